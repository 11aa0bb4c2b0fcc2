import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.apache.flink.runtime.checkpoint.Checkpoints;
import org.apache.flink.runtime.checkpoint.metadata.CheckpointMetadata;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;

/**
 * What Flink's own loader reads from files of checkpoint metadata: for each argument one line with the checkpoint number and
 * the shared files of incremental state. Compiled once, it runs with the jars of any Flink version from 1.20 on.
 */
public final class Loader {
    private Loader() {}

    public static void main(String[] args) throws IOException {
        for (String file : args) {
            System.out.println(read(Path.of(file)));
        }
    }

    private static String read(Path file) throws IOException {
        try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
            CheckpointMetadata metadata = Checkpoints.loadCheckpointMetadata(
                    in, Loader.class.getClassLoader(), file.toAbsolutePath().getParent().toString());
            if (in.read() != -1) {
                throw new IOException("bytes are left in " + file);
            }
            String files = metadata.getOperatorStates().stream()
                    .flatMap(operator -> operator.getStates().stream())
                    .flatMap(subtask -> subtask.getManagedKeyedState().stream())
                    .flatMap(handle -> ((IncrementalRemoteKeyedStateHandle) handle).getSharedState().stream())
                    .map(shared -> " " + ((FileStateHandle) shared.getHandle()).getFilePath())
                    .sorted()
                    .collect(Collectors.joining());
            return metadata.getCheckpointId() + files;
        }
    }
}
