import io.debezium.embedded.Connect;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.RecordChangeEvent;
import io.debezium.engine.format.ChangeEventFormat;
import io.debezium.transforms.ExtractNewRecordState;
import java.io.PrintStream;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.Converter;

/**
 * Debezium's engine with the converters of Kafka Connect. Each change is printed in all forms, a line each: engine,
 * form, topic, key and value in base64, "-" for null. An engine ends at a change of the table "done".
 *
 * Arguments: the URL of a registry, or "-"; then for each engine its name and its properties, ";" between them.
 */
public class ChangeEngine {
    private static final PrintStream OUT = System.out;

    /** Two converters, and whether changes are made rows before. */
    record Form(Converter keys, Converter values, boolean flattened) {}

    public static void main(String[] arguments) throws Exception {
        System.setOut(System.err);
        String registry = arguments[0];
        int count = (arguments.length - 1) / 2;
        CountDownLatch ended = new CountDownLatch(count);
        for (int number = 0; number < count; number++) {
            String name = arguments[1 + 2 * number];
            Properties settings = new Properties();
            for (String setting : arguments[2 + 2 * number].split(";")) {
                String[] parts = setting.split("=", 2);
                settings.setProperty(parts[0], parts[1]);
            }
            Map<String, Form> forms = forms(registry);
            ExtractNewRecordState<SourceRecord> flatten = new ExtractNewRecordState<>();
            flatten.configure(Map.of("delete.tombstone.handling.mode", "rewrite"));
            DebeziumEngine<RecordChangeEvent<SourceRecord>> engine =
                DebeziumEngine.create(ChangeEventFormat.of(Connect.class))
                    .using(settings)
                    .notifying(event -> {
                        if (print(name, event.record(), forms, flatten)) {
                            ended.countDown();
                        }
                    })
                    .using((success, message, error) -> {
                        if (error != null) {
                            error.printStackTrace();
                        }
                        if (!success) {
                            System.exit(1);
                        }
                    })
                    .build();
            Thread thread = new Thread(engine, name);
            thread.setDaemon(true);
            thread.start();
        }
        ended.await();
        System.exit(0);
    }

    private static Map<String, Form> forms(String registry) {
        Map<String, Form> forms = new LinkedHashMap<>();
        forms.put("json", new Form(json(true, false), json(false, false), false));
        forms.put("json-with-schema", new Form(json(true, true), json(false, true), false));
        forms.put("flattened", new Form(json(true, false), json(false, false), true));
        if (!registry.equals("-")) {
            forms.put("avro", new Form(avro(registry, true), avro(registry, false), false));
        }
        return forms;
    }

    private static Converter json(boolean isKey, boolean withSchema) {
        JsonConverter converter = new JsonConverter();
        converter.configure(Map.of("schemas.enable", withSchema), isKey);
        return converter;
    }

    private static Converter avro(String registry, boolean isKey) {
        Converter converter = new io.apicurio.registry.utils.converter.AvroConverter<>();
        converter.configure(Map.of(
            "apicurio.registry.url", registry,
            "apicurio.registry.auto-register", "true",
            "apicurio.registry.find-latest", "true",
            "apicurio.registry.as-confluent", "true",
            "apicurio.registry.use-id", "contentId",
            "apicurio.registry.headers.enabled", "false"), isKey);
        return converter;
    }

    /** Prints a change; true for one of the last table. */
    private static boolean print(
            String engine, SourceRecord record, Map<String, Form> forms, ExtractNewRecordState<SourceRecord> flatten) {
        for (Map.Entry<String, Form> each : forms.entrySet()) {
            Form form = each.getValue();
            SourceRecord written = form.flattened() ? flatten.apply(record) : record;
            if (written != null) {
                String key = encoded(form.keys(), written.topic(), written.keySchema(), written.key());
                String value = encoded(form.values(), written.topic(), written.valueSchema(), written.value());
                OUT.println(String.join(" ", engine, each.getKey(), written.topic(), key, value));
            }
        }
        OUT.flush();
        return record.topic().endsWith(".done");
    }

    private static String encoded(Converter converter, String topic, Schema schema, Object value) {
        byte[] bytes = value == null ? null : converter.fromConnectData(topic, schema, value);
        return bytes == null ? "-" : Base64.getEncoder().encodeToString(bytes);
    }
}
