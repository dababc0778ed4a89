import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** The progress of a process as a line of JSON: the rows that it has read, and its CPU seconds. */
final class Progress {
  static void tell(long rows) {
    var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    System.out.println("[" + rows + ", " + system.getProcessCpuTime() / 1e9 + "]");
  }
}
