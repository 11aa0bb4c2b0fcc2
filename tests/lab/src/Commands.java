import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.core.execution.RestoreMode;

/**
 * The commands of the control channel; each is answered by one line.
 *
 * <pre>
 * submit APP [ROOT]         a new job with empty state; ROOT defaults to the root in the resource namespace   OK JOB-ID
 * cancel APP                cancels the job, its checkpoints stay                                             OK JOB-ID
 * checkpoint APP            takes a checkpoint now                                                            OK PATH
 * savepoint APP             takes a savepoint                                                                 OK PATH
 * restore MODE PATH [APP]   a new job of APP (app1) from PATH; MODE is CLAIM, NO_CLAIM or LEGACY              OK JOB-ID
 * failover                  the other NameNode becomes active (--ha)                                          OK URL
 * safemode on|off                                                                                             OK on|off
 * delete PATH               with everything below, no Trash                                                   OK PATH
 * put PATH TEXT             makes or overwrites a file                                                        OK PATH
 * dfs ARGUMENTS             what `hdfs dfs ARGUMENTS` does, as the superuser                                  OK 0
 * exit                                                                                                        OK exit
 * </pre>
 */
final class Commands {
    private final Hdfs hdfs;
    private final Flink flink;

    Commands(Hdfs hdfs, Flink flink) {
        this.hdfs = hdfs;
        this.flink = flink;
    }

    String answer(String line) {
        try {
            return "OK " + run(line);
        } catch (Exception e) {
            return "ERR " + oneLine(e);
        }
    }

    private Object run(String line) throws Exception {
        String[] words = line.split(" +");
        return switch (words[0]) {
            case "submit" -> flink.submit(word(words, 1), words.length > 2 ? words[2] : Lab.NAMESPACE_ROOT);
            case "cancel" -> flink.cancel(word(words, 1));
            case "checkpoint" -> flink.checkpoint(word(words, 1));
            case "savepoint" -> flink.savepoint(word(words, 1));
            case "restore" -> flink.restore(
                    words.length > 3 ? words[3] : "app1", RestoreMode.valueOf(word(words, 1)), word(words, 2));
            case "failover" -> hdfs.failOver();
            case "safemode" -> setSafeMode(word(words, 1));
            case "delete" -> delete(rest(line, 1));
            case "put" -> put(word(words, 1), rest(line, 2));
            case "dfs" -> hdfs.shell(Arrays.copyOfRange(words, 1, words.length));
            default -> throw new IllegalArgumentException("unknown command " + words[0]);
        };
    }

    private String setSafeMode(String value) throws Exception {
        switch (value) {
            case "on" -> hdfs.setSafeMode(true);
            case "off" -> hdfs.setSafeMode(false);
            default -> throw new IllegalArgumentException("safemode takes on or off");
        }
        return value;
    }

    private String delete(String path) throws Exception {
        if (!hdfs.delete(path)) {
            throw new IllegalArgumentException("nothing is at " + path);
        }
        return path;
    }

    private String put(String path, String text) throws Exception {
        hdfs.put(path, text);
        return path;
    }

    private static String word(String[] words, int index) {
        if (words.length <= index) {
            throw new IllegalArgumentException(words[0] + " needs more arguments");
        }
        return words[index];
    }

    /** The line from the given word on, spaces kept. */
    private static String rest(String line, int skip) {
        String[] parts = line.split(" +", skip + 1);
        return word(parts, skip);
    }

    /** An error and its causes in one line. Of each only the first line: Hadoop's go on with the far side's stack. */
    static String oneLine(Throwable error) {
        List<String> chain = new ArrayList<>();
        for (Throwable e = error; e != null; e = e.getCause()) {
            String message = String.valueOf(e.getMessage()).lines().findFirst().orElse("");
            chain.add(e.getClass().getSimpleName() + " " + message);
        }
        return String.join(": ", chain);
    }
}
