import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.OperatorState;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;

/**
 * Flink's own loader of checkpoint metadata, for the bench: reads each list of files from memory, again and again, and prints
 * bytes a second. Each argument is a file that lists {@code _metadata} files, one a line.
 */
public final class LoadMetadata {
    /** Long enough for the compiler of the JVM to have done all it will do. */
    private static final double WARM_UP_SECONDS = 8;

    private static final double MEASURED_SECONDS = 1;

    private static final int MEASURED = 5;

    private LoadMetadata() {}

    private record Loaded(byte[] bytes, String pointer) {
        int load() throws Exception {
            CheckpointMetadata metadata = Checkpoints.loadCheckpointMetadata(
                    new DataInputStream(new ByteArrayInputStream(bytes)), LoadMetadata.class.getClassLoader(), pointer);
            int subtasks = 0;
            for (OperatorState operator : metadata.getOperatorStates()) {
                subtasks += operator.getNumberCollectedStates();
            }
            return subtasks;
        }
    }

    /** Bytes a second of passes over all files until the time is over. */
    private static double run(List<Loaded> files, double seconds) throws Exception {
        long begin = System.nanoTime();
        long bytes = 0;
        long subtasks = 0;
        double elapsed;
        do {
            for (Loaded file : files) {
                subtasks += file.load();
                bytes += file.bytes.length;
            }
            elapsed = (System.nanoTime() - begin) / 1e9;
        } while (elapsed < seconds);
        if (subtasks == 0) {
            throw new IllegalStateException("nothing was read");
        }
        return bytes / elapsed;
    }

    public static void main(String[] lists) throws Exception {
        for (String list : lists) {
            List<Loaded> files = new ArrayList<>();
            for (String line : Files.readAllLines(Path.of(list))) {
                Path file = Path.of(line);
                files.add(new Loaded(Files.readAllBytes(file), file.getParent().toUri().toString()));
            }
            run(files, WARM_UP_SECONDS);
            double[] measured = new double[MEASURED];
            for (int n = 0; n < MEASURED; n++) {
                measured[n] = run(files, MEASURED_SECONDS);
            }
            Arrays.sort(measured);
            System.out.printf("RATE %.0f%n", measured[MEASURED / 2]);
        }
    }
}
