import java.util.Base64;
import java.util.Scanner;
import org.apache.kafka.clients.producer.internals.BuiltInPartitioner;

/** Says of each key, a line of base64, in which partition Java's producer puts it. */
class JavaPartitions {
    public static void main(String[] arguments) {
        int partitions = Integer.parseInt(arguments[0]);
        Scanner lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            byte[] key = Base64.getDecoder().decode(lines.nextLine());
            System.out.println(BuiltInPartitioner.partitionForKey(key, partitions));
        }
    }
}
