import static java.util.Map.entry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.Joined;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;

/**
 * Nexmark queries by Kafka Streams: tables and windows in RocksDB, two threads, exactly once.
 *
 * <p>Arguments: query, brokers, output topic, folder of state, milliseconds between two commits, and the number
 * of records in the topics that tasks read. Prints its progress, in records of these topics and of those in
 * between, and ends when it has been without work for a while.
 */
public final class NexmarkStreams {
  private static final Duration GRACE = Duration.ofDays(1);
  private static final Duration TEN_SECONDS = Duration.ofSeconds(10);
  private static final TimeWindows WINDOWS = TimeWindows.ofSizeAndGrace(TEN_SECONDS, GRACE);
  private static final TimeWindows DAYS = TimeWindows.ofSizeAndGrace(Duration.ofDays(1), GRACE);
  private static final JoinWindows TEN_MINUTES =
      JoinWindows.ofTimeDifferenceAndGrace(Duration.ofMinutes(10), GRACE);
  private static final SessionWindows SESSIONS = SessionWindows.ofInactivityGapAndGrace(TEN_SECONDS, GRACE);
  private static final BigDecimal RATE = new BigDecimal("0.908");
  private static final BigDecimal LOW = new BigDecimal(1_000_000);
  private static final BigDecimal HIGH = new BigDecimal(50_000_000);
  private static final Set<String> STATES = Set.of("OR", "ID", "CA");
  private static final Map<String, String> CHANNELS =
      Map.of("apple", "0", "google", "1", "facebook", "2", "baidu", "3");
  private static final Pattern CHANNEL_ID = Pattern.compile("(&|^)channel_id=([^&]*)");
  private static final long STEP_MS = 250;
  private static final int IDLE_STEPS = 12;

  private final ObjectMapper json = new ObjectMapper();
  private final Serde<JsonNode> values = JsonSerde.of(json);
  private final StreamsBuilder builder = new StreamsBuilder();

  /** The queries by name, each as the stream of its answer. A stream of updates has the key of its rows. */
  private final Map<String, Supplier<KStream<String, JsonNode>>> queries =
      Map.ofEntries(
          entry("q0", () -> read("bid").mapValues(bid -> picked(bid, "auction", "bidder", "price", "dateTime", "extra"))),
          entry("q1", () -> read("bid").mapValues(this::inEuros)),
          entry(
              "q2",
              () ->
                  read("bid")
                      .filter((key, bid) -> bid.get("auction").asLong() % 123 == 0)
                      .mapValues(bid -> picked(bid, "auction", "price"))),
          entry("q3-tables", this::itemsByTables),
          entry("q3-within", this::itemsWithin),
          entry("q8", this::newUsers),
          entry("q11", this::sessions),
          entry("q13", this::withSideInput),
          entry("q14", () -> read("bid").filter((key, bid) -> isPriced(bid)).mapValues(this::calculated)),
          entry("q17", this::statistics),
          entry("q18", this::lastBids),
          entry("q20", this::withAuctions),
          entry(
              "q21",
              () ->
                  read("bid").mapValues(this::withChannelId).filter((key, bid) -> bid.has("channel_id"))),
          entry("q22", () -> read("bid").mapValues(this::withDirectories)));

  public static void main(String[] given) throws Exception {
    NexmarkStreams made = new NexmarkStreams();
    made.queries.get(given[0]).get().to(given[2], Produced.with(Serdes.String(), made.values));
    Properties settings = new Properties();
    settings.put(StreamsConfig.APPLICATION_ID_CONFIG, given[2]);
    settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, given[1]);
    settings.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 2);
    settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    settings.put(StreamsConfig.STATE_DIR_CONFIG, given[3]);
    settings.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, 1);
    settings.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, Long.parseLong(given[4]));
    settings.put(StreamsConfig.TOPOLOGY_OPTIMIZATION_CONFIG, StreamsConfig.OPTIMIZE);
    settings.put(StreamsConfig.consumerPrefix("auto.offset.reset"), "earliest");
    // A row waits for a table that is there already: both are read in the order of their times.
    settings.put(StreamsConfig.MAX_TASK_IDLE_MS_CONFIG, 1_000);
    try (KafkaStreams streams = new KafkaStreams(made.builder.build(settings), settings)) {
      streams.start();
      awaitEnd(streams, Long.parseLong(given[5]));
    }
  }

  private static void awaitEnd(KafkaStreams streams, long rows) throws InterruptedException {
    long before = 0;
    for (int idle = 0; before < rows || idle < IDLE_STEPS; idle++) {
      Thread.sleep(STEP_MS);
      if (streams.state().hasStartedOrFinishedShuttingDown()) {
        throw new IllegalStateException("the threads have ended");
      }
      long processed = processed(streams);
      if (processed > before) {
        Progress.tell(processed);
        idle = 0;
      }
      before = processed;
    }
  }

  private static long processed(KafkaStreams streams) {
    return (long)
        streams.metrics().values().stream()
            .filter(metric -> metric.metricName().name().equals("process-total"))
            .filter(metric -> metric.metricName().group().equals("stream-thread-metrics"))
            .mapToDouble(metric -> (double) metric.metricValue())
            .sum();
  }

  private KStream<String, JsonNode> itemsByTables() {
    KTable<String, JsonNode> people = builder.table("person", Consumed.with(Serdes.String(), values));
    return bySeller(read("auction").filter((key, auction) -> isWanted(auction)))
        .join(people, this::sold, Joined.with(Serdes.String(), values, values))
        .filter((key, row) -> STATES.contains(row.get("state").asText()));
  }

  private KStream<String, JsonNode> itemsWithin() {
    var people = readInTime("person").filter((key, person) -> STATES.contains(person.get("state").asText()));
    return bySeller(readInTime("auction").filter((key, auction) -> isWanted(auction)))
        .join(people, this::sold, TEN_MINUTES, StreamJoined.with(Serdes.String(), values, values));
  }

  private KStream<String, JsonNode> newUsers() {
    var people = inWindows(readInTime("person").mapValues(person -> picked(person, "id", "name")));
    var sellers = inWindows(bySeller(readInTime("auction")));
    return people
        .join(sellers, (person, auction) -> person)
        .toStream()
        .map((window, person) -> KeyValue.pair(keyOf(window), startingIn(window, person)));
  }

  private KStream<String, JsonNode> sessions() {
    return readInTime("bid")
        .<String, JsonNode>map((key, bid) -> KeyValue.pair(bid.get("bidder").asText(), picked(bid, "bidder")))
        .groupByKey(Grouped.with(Serdes.String(), values))
        .windowedBy(SESSIONS)
        .count(Materialized.with(Serdes.String(), Serdes.Long()))
        .toStream()
        .map((window, bids) -> KeyValue.pair(keyOf(window), bids == null ? null : session(window, bids)));
  }

  private KStream<String, JsonNode> withSideInput() {
    var side = builder.globalTable("side_input", Consumed.with(Serdes.String(), values));
    return read("bid")
        .join(
            side,
            (key, bid) -> String.valueOf(bid.get("auction").asLong() % 10_000),
            (bid, row) -> picked(bid, "auction", "bidder", "price", "dateTime").set("value", row.get("value")));
  }

  private KStream<String, JsonNode> statistics() {
    Serde<long[]> totals = Serdes.serdeFrom((topic, of) -> written(of), (topic, bytes) -> totals(bytes));
    return readInTime("bid")
        .groupByKey(Grouped.with(Serdes.String(), values))
        .windowedBy(DAYS)
        .aggregate(
            () -> new long[] {0, 0, 0, 0, Long.MAX_VALUE, Long.MIN_VALUE, 0},
            (key, bid, before) -> added(before, bid.get("price").asLong()),
            Materialized.with(Serdes.String(), totals))
        .toStream()
        .map((day, of) -> KeyValue.pair(keyOf(day), statistics(day, of)));
  }

  private KStream<String, JsonNode> lastBids() {
    return read("bid")
        .groupBy(
            (key, bid) -> key + "/" + bid.get("bidder").asText(), Grouped.with(Serdes.String(), values))
        .reduce((last, bid) -> isBefore(bid, last) ? last : bid, Materialized.with(Serdes.String(), values))
        .toStream()
        .mapValues(bid -> picked(bid, "auction", "bidder", "price", "channel", "url", "dateTime", "extra"));
  }

  private KStream<String, JsonNode> withAuctions() {
    KTable<String, JsonNode> auctions = builder.table("auction", Consumed.with(Serdes.String(), values));
    return read("bid")
        .join(
            auctions.filter((key, auction) -> isWanted(auction)),
            this::expanded,
            Joined.with(Serdes.String(), values, values));
  }

  /** A topic in the times of its records, which are those at which they were written. */
  private KStream<String, JsonNode> read(String topic) {
    return builder.stream(topic, Consumed.with(Serdes.String(), values));
  }

  /** A topic in the times of its events. */
  private KStream<String, JsonNode> readInTime(String topic) {
    var consumed = Consumed.with(Serdes.String(), values);
    return builder.stream(topic, consumed.withTimestampExtractor((record, now) -> time(record.value())));
  }

  private KStream<String, JsonNode> bySeller(KStream<String, JsonNode> auctions) {
    return auctions
        .<String, JsonNode>map((key, auction) -> KeyValue.pair(auction.get("seller").asText(), picked(auction, "id")))
        .repartition(Repartitioned.with(Serdes.String(), values));
  }

  private KTable<Windowed<String>, JsonNode> inWindows(KStream<String, JsonNode> rows) {
    return rows.groupByKey(Grouped.with(Serdes.String(), values))
        .windowedBy(WINDOWS)
        .reduce((first, next) -> first, Materialized.with(Serdes.String(), values));
  }

  private static long time(Object row) {
    return Instant.parse(((JsonNode) row).get("dateTime").asText()).toEpochMilli();
  }

  /** All times are written alike, so that their order is that of their texts. */
  private static boolean isBefore(JsonNode one, JsonNode other) {
    return one.get("dateTime").asText().compareTo(other.get("dateTime").asText()) < 0;
  }

  private static boolean isWanted(JsonNode auction) {
    return auction.get("category").asLong() == 10;
  }

  private static BigDecimal euros(JsonNode bid) {
    return RATE.multiply(BigDecimal.valueOf(bid.get("price").asLong()));
  }

  private static boolean isPriced(JsonNode bid) {
    BigDecimal price = euros(bid);
    return price.compareTo(LOW) > 0 && price.compareTo(HIGH) < 0;
  }

  private static String keyOf(Windowed<String> window) {
    return window.key() + "/" + window.window().start() + "/" + window.window().end();
  }

  private static long[] added(long[] before, long price) {
    long[] after = before.clone();
    after[0]++;
    after[price < 10_000 ? 1 : price < 1_000_000 ? 2 : 3]++;
    after[4] = Math.min(before[4], price);
    after[5] = Math.max(before[5], price);
    after[6] += price;
    return after;
  }

  private static byte[] written(long[] totals) {
    ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES * totals.length);
    bytes.asLongBuffer().put(totals);
    return bytes.array();
  }

  private static long[] totals(byte[] bytes) {
    LongBuffer read = ByteBuffer.wrap(bytes).asLongBuffer();
    long[] totals = new long[read.remaining()];
    read.get(totals);
    return totals;
  }

  private ObjectNode picked(JsonNode row, String... columns) {
    ObjectNode made = json.createObjectNode();
    for (String column : columns) {
      made.set(column, row.get(column));
    }
    return made;
  }

  private JsonNode inEuros(JsonNode bid) {
    return picked(bid, "auction", "bidder", "dateTime", "extra").put("price", euros(bid));
  }

  private JsonNode calculated(JsonNode bid) {
    int hour = Integer.parseInt(bid.get("dateTime").asText().substring(11, 13));
    String kind = hour >= 8 && hour <= 18 ? "dayTime" : hour <= 6 || hour >= 20 ? "nightTime" : "otherTime";
    long counted = bid.get("extra").asText().chars().filter(letter -> letter == 'c').count();
    return picked(bid, "auction", "bidder", "dateTime", "extra")
        .put("price", euros(bid))
        .put("bidTimeType", kind)
        .put("c_counts", counted);
  }

  private JsonNode withChannelId(JsonNode bid) {
    ObjectNode made = picked(bid, "auction", "bidder", "price", "channel");
    String known = CHANNELS.get(bid.get("channel").asText().toLowerCase());
    if (known != null) {
      return made.put("channel_id", known);
    }
    var found = CHANNEL_ID.matcher(bid.get("url").asText());
    return found.find() ? made.put("channel_id", found.group(2)) : made;
  }

  private JsonNode withDirectories(JsonNode bid) {
    String[] parts = bid.get("url").asText().split("/");
    ObjectNode made = picked(bid, "auction", "bidder", "price", "channel");
    for (int place = 1; place <= 3; place++) {
      made.put("dir" + place, parts.length > place + 2 ? parts[place + 2] : "");
    }
    return made;
  }

  private JsonNode sold(JsonNode auction, JsonNode person) {
    return picked(person, "name", "city", "state").set("id", auction.get("id"));
  }

  private JsonNode expanded(JsonNode bid, JsonNode auction) {
    ObjectNode made = picked(bid, "auction", "bidder", "price", "channel", "url");
    made.set("bid_dateTime", bid.get("dateTime"));
    made.set("bid_extra", bid.get("extra"));
    made.setAll(picked(auction, "itemName", "description", "initialBid", "reserve", "expires", "seller", "category"));
    made.set("auction_dateTime", auction.get("dateTime"));
    return made.set("auction_extra", auction.get("extra"));
  }

  private JsonNode startingIn(Windowed<String> window, JsonNode person) {
    return picked(person, "id", "name").put("starttime", window.window().startTime().toString());
  }

  /** Other than SQL, Kafka Streams ends a session with its last row. */
  private JsonNode session(Windowed<String> window, long bids) {
    return json.createObjectNode()
        .put("bidder", Long.parseLong(window.key()))
        .put("bid_count", bids)
        .put("starttime", window.window().startTime().toString())
        .put("endtime", window.window().endTime().plus(TEN_SECONDS).toString());
  }

  private JsonNode statistics(Windowed<String> day, long[] totals) {
    return json.createObjectNode()
        .put("auction", Long.parseLong(day.key()))
        .put("day", day.window().startTime().toString().substring(0, 10))
        .put("total_bids", totals[0])
        .put("rank1_bids", totals[1])
        .put("rank2_bids", totals[2])
        .put("rank3_bids", totals[3])
        .put("min_price", totals[4])
        .put("max_price", totals[5])
        .put("avg_price", totals[6] / totals[0])
        .put("sum_price", totals[6]);
  }
}
