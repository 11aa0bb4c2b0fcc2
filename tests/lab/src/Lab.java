import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.logging.Level;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A real HDFS and a real Flink in one JVM, with one job that checkpoints into the resource namespace of the scheduler
 * (the drift this lab is about) and one that does not.
 *
 * <p>Arguments: {@code --dir DIR} (required, for all files), {@code --ha}, {@code --hdfs-port N}, {@code --webhdfs-port
 * N}, {@code --flink-port N}; ports are chosen free if not given. When everything is up and both jobs have a completed
 * checkpoint, one line {@code READY hdfs=… webhdfs=… flink=… conf=…} comes on stdout. From then on each line on stdin is a
 * command of {@link Commands}, answered by one line {@code OK …} or {@code ERR …}. The end of stdin ends the lab.
 */
public final class Lab {
    /** Where the job of interest keeps its checkpoints: below the directory of tenant etl in the resource center. */
    static final String NAMESPACE_ROOT = "/dolphinscheduler/etl/resources/ckpt_storage";
    /** Where checkpoints belong. */
    static final String HEALTHY_ROOT = "/flink/checkpoints";
    /** Default directory of savepoints. */
    static final String SAVEPOINT_ROOT = "/flink/savepoints";

    private static final Logger LOG = LoggerFactory.getLogger("Lab");

    // Held, since the logging framework keeps only a weak reference to a logger and its level.
    private static final java.util.logging.Logger JERSEY = java.util.logging.Logger.getLogger("com.sun.jersey");

    private Lab() {}

    public static void main(String[] args) throws Exception {
        // Hadoop prints to stdout while it formats; only the control channel may write there.
        PrintStream channel = System.out;
        System.setOut(System.err);
        // WebHDFS's REST framework logs its method list as warnings through java.util.logging.
        JERSEY.setLevel(Level.SEVERE);
        // A fixed superuser, whoever starts the lab.
        System.setProperty("HADOOP_USER_NAME", "hdfs");

        int status = 1;
        try {
            run(Options.parse(args), channel);
            status = 0;
        } catch (Throwable e) {
            LOG.error("the lab did not start", e);
            channel.println("ERR " + Commands.oneLine(e));
        }
        // Both systems leave threads behind that are not daemons.
        System.exit(status);
    }

    private static void run(Options options, PrintStream channel) throws Exception {
        long started = System.nanoTime();
        try (Hdfs hdfs = Hdfs.start(options);
                Flink flink = Flink.start(options, hdfs)) {
            LOG.info("HDFS and Flink are up after {} s", seconds(started));
            flink.submit("app1", NAMESPACE_ROOT, CountingJob.Rhythm.STEADY);
            flink.submit("app2", HEALTHY_ROOT, CountingJob.Rhythm.STEADY);
            flink.awaitCheckpoint("app1");
            flink.awaitCheckpoint("app2");
            LOG.info("both jobs have a completed checkpoint after {} s", seconds(started));
            channel.printf("READY hdfs=%s webhdfs=%s flink=%s conf=%s%n",
                    hdfs.uri(), String.join(",", hdfs.webHdfsUrls()), flink.restUrl(), hdfs.confDir());
            serve(new Commands(hdfs, flink), channel);
        }
    }

    private static void serve(Commands commands, PrintStream channel) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.isBlank()) {
                continue;
            }
            if (line.strip().equals("exit")) {
                channel.println("OK exit");
                return;
            }
            channel.println(commands.answer(line.strip()));
        }
    }

    private static long seconds(long since) {
        return (System.nanoTime() - since) / 1_000_000_000L;
    }

    /** The command line. A port of 0 is chosen free. */
    record Options(Path dir, boolean ha, int hdfsPort, int webHdfsPort, int flinkPort) {
        static Options parse(String[] args) {
            Path dir = null;
            boolean ha = false;
            int hdfsPort = 0;
            int webHdfsPort = 0;
            int flinkPort = 0;
            Queue<String> rest = new ArrayDeque<>(List.of(args));
            while (!rest.isEmpty()) {
                String flag = rest.remove();
                switch (flag) {
                    case "--dir" -> dir = Path.of(value(flag, rest));
                    case "--ha" -> ha = true;
                    case "--hdfs-port" -> hdfsPort = Integer.parseInt(value(flag, rest));
                    case "--webhdfs-port" -> webHdfsPort = Integer.parseInt(value(flag, rest));
                    case "--flink-port" -> flinkPort = Integer.parseInt(value(flag, rest));
                    default -> throw new IllegalArgumentException("unknown argument " + flag);
                }
            }
            if (dir == null) {
                throw new IllegalArgumentException("--dir is missing: it says where HDFS and Flink keep their files");
            }
            return new Options(dir.toAbsolutePath(), ha, hdfsPort, webHdfsPort, flinkPort);
        }

        private static String value(String flag, Queue<String> rest) {
            if (rest.isEmpty()) {
                throw new IllegalArgumentException(flag + " needs a value");
            }
            return rest.remove();
        }
    }
}
