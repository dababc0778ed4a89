import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.apicurio.registry.serde.avro.AvroKafkaDeserializer;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Produced;

/**
 * Page views joined with users by Kafka Streams: a KStream and a KTable in RocksDB, two threads.
 *
 * <p>Arguments: brokers, output topic, guarantee, number of views, folder of state, for how many
 * milliseconds a view waits for users that have not come, how many are between two commits, and the URL of
 * Apicurio's registry, where views are Avro. Prints the views seen and the CPU seconds of this process, so many
 * views apart, and ends after the last one.
 */
public final class Joined {
  private static final long STEP = 250_000;

  public static void main(String[] given) throws Exception {
    long views = Long.parseLong(given[3]);
    ObjectMapper json = new ObjectMapper();
    Serde<JsonNode> values = JsonSerde.of(json);
    AtomicLong seen = new AtomicLong();
    CountDownLatch all = new CountDownLatch(1);

    StreamsBuilder builder = new StreamsBuilder();
    var users = builder.table("users", Consumed.with(Serdes.String(), values));
    builder.stream("views", Consumed.with(Serdes.String(), given.length > 7 ? avro(given[7]) : viewsOf(json)))
        .peek((key, view) -> count(seen.incrementAndGet(), views, all))
        .filter((key, view) -> !field(view, "page").asText().startsWith("/health"))
        .join(users, (view, user) -> joined(json, view, user))
        .to(given[1], Produced.with(Serdes.String(), values));

    Properties settings = new Properties();
    settings.put(StreamsConfig.APPLICATION_ID_CONFIG, given[1]);
    settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, given[0]);
    settings.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 2);
    settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, given[2]);
    settings.put(StreamsConfig.STATE_DIR_CONFIG, given[4]);
    settings.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, -1);
    settings.put(StreamsConfig.consumerPrefix("auto.offset.reset"), "earliest");
    // A view waits for users that are there already: both are read in the order of their times.
    settings.put(StreamsConfig.MAX_TASK_IDLE_MS_CONFIG, Long.parseLong(given[5]));
    settings.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, Long.parseLong(given[6]));
    KafkaStreams streams = new KafkaStreams(builder.build(), settings);
    streams.start();
    all.await();
    streams.close();
    Progress.tell(views);
  }

  private static void count(long number, long views, CountDownLatch all) {
    if (number % STEP == 0 && number < views) {
      Progress.tell(number);
    }
    if (number == views) {
      all.countDown();
    }
  }

  private static JsonNode joined(ObjectMapper json, Object view, JsonNode user) {
    ObjectNode made = json.createObjectNode();
    made.set("user", field(view, "user"));
    made.set("page", field(view, "page"));
    made.set("country", user.get("country"));
    return made;
  }

  private static JsonNode field(Object view, String name) {
    return view instanceof JsonNode node
        ? node.get(name)
        : TextNode.valueOf(((GenericRecord) view).get(name).toString());
  }

  private static Serde<Object> viewsOf(ObjectMapper json) {
    Serde<JsonNode> nodes = JsonSerde.of(json);
    return Serdes.serdeFrom((topic, view) -> null, nodes.deserializer()::deserialize);
  }

  /** Views that say the id of their schema as Confluent's clients do. */
  private static Serde<Object> avro(String registry) {
    AvroKafkaDeserializer<Object> views = new AvroKafkaDeserializer<>();
    views.configure(
        Map.of(
            "apicurio.registry.url", registry,
            "apicurio.registry.as-confluent", "true",
            "apicurio.registry.use-id", "contentId",
            "apicurio.registry.headers.enabled", "false"),
        false);
    return Serdes.serdeFrom((topic, view) -> null, views);
  }
}
