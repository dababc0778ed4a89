import java.util.Properties;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;
import org.apache.flink.metrics.reporter.Scheduled;

/** The records that all sources have read, as progress. */
public final class ProgressReporter implements MetricReporter, Scheduled {
  private final Queue<Counter> read = new ConcurrentLinkedQueue<>();

  @Override
  public void open(MetricConfig settings) {}

  @Override
  public void close() {
    report();
  }

  @Override
  public void notifyOfAddedMetric(Metric metric, String name, MetricGroup group) {
    String operator = group.getAllVariables().getOrDefault("<operator_name>", "");
    if (name.equals("numRecordsIn") && operator.startsWith("Source:")) {
      read.add((Counter) metric);
    }
  }

  @Override
  public void notifyOfRemovedMetric(Metric metric, String name, MetricGroup group) {}

  @Override
  public void report() {
    Progress.tell(read.stream().mapToLong(Counter::getCount).sum());
  }

  /** What Flink makes the reporter by. */
  public static final class Factory implements MetricReporterFactory {
    @Override
    public MetricReporter createMetricReporter(Properties settings) {
      return new ProgressReporter();
    }
  }
}
