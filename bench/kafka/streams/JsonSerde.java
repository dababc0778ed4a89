import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;

/** Values as JSON. */
final class JsonSerde {
  static Serde<JsonNode> of(ObjectMapper json) {
    return Serdes.serdeFrom((topic, node) -> written(json, node), (topic, bytes) -> read(json, bytes));
  }

  private static JsonNode read(ObjectMapper json, byte[] bytes) {
    try {
      return bytes == null ? null : json.readTree(bytes);
    } catch (IOException error) {
      throw new IllegalArgumentException(error);
    }
  }

  private static byte[] written(ObjectMapper json, JsonNode node) {
    try {
      return node == null ? null : json.writeValueAsBytes(node);
    } catch (IOException error) {
      throw new IllegalArgumentException(error);
    }
  }
}
