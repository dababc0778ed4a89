import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;

/**
 * Statements of SQL by Flink in one process: two slots, state in RocksDB, a checkpoint every ten seconds.
 *
 * <p>Arguments: a file of statements, and the folder of state. Prints its progress, and ends with the sources.
 */
public final class FlinkStatements {
  private static final Map<String, String> SETTINGS =
      Map.ofEntries(
          Map.entry("parallelism.default", "2"),
          Map.entry("taskmanager.numberOfTaskSlots", "2"),
          Map.entry("taskmanager.memory.managed.size", "512m"),
          Map.entry("execution.checkpointing.mode", "EXACTLY_ONCE"),
          Map.entry("execution.checkpointing.interval", "10 s"),
          Map.entry("execution.checkpointing.storage", "filesystem"),
          Map.entry("execution.checkpointing.incremental", "true"),
          Map.entry("state.backend.type", "rocksdb"),
          Map.entry("pipeline.object-reuse", "true"),
          Map.entry("table.local-time-zone", "UTC"),
          Map.entry("table.exec.mini-batch.enabled", "true"),
          Map.entry("table.exec.mini-batch.allow-latency", "2 s"),
          Map.entry("table.exec.mini-batch.size", "50000"),
          Map.entry("metrics.reporters", "progress"),
          Map.entry("metrics.reporter.progress.factory.class", "ProgressReporter$Factory"),
          Map.entry("metrics.reporter.progress.interval", "250 ms"));

  public static void main(String[] given) throws Exception {
    Configuration settings = Configuration.fromMap(SETTINGS);
    settings.setString("execution.checkpointing.dir", Path.of(given[1], "checkpoints").toUri().toString());
    settings.setString("io.tmp.dirs", given[1]);
    var tables = StreamTableEnvironment.create(StreamExecutionEnvironment.getExecutionEnvironment(settings));
    for (String statement : Files.readString(Path.of(given[0])).split(";\n")) {
      tables.executeSql(statement).await();
    }
  }
}
