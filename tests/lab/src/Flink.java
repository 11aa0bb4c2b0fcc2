import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.RestoreMode;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.runtime.checkpoint.CheckpointStatsSnapshot;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.executiongraph.ErrorInfo;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;

/** A session cluster with its REST API and the jobs on it, one per application. */
final class Flink implements AutoCloseable {
    /** How long one step of a job may take; beyond that the command fails instead of hanging. */
    private static final Duration DEADLINE = Duration.ofSeconds(120);

    private final MiniCluster cluster;
    private final URI rest;
    private final String hdfs;
    private final Map<String, Application> applications = new HashMap<>();

    /** The latest job of an application, the root in which it makes its run directories, and when it checkpoints. */
    private record Application(JobID job, String root, CountingJob.Rhythm rhythm) {}

    private Flink(MiniCluster cluster, URI rest, String hdfs) {
        this.cluster = cluster;
        this.rest = rest;
        this.hdfs = hdfs;
    }

    static Flink start(Lab.Options options, Hdfs hdfs) throws Exception {
        Configuration conf = clusterConf(options, hdfs);
        FileSystem.initialize(conf, null);
        MiniCluster cluster = new MiniCluster(new MiniClusterConfiguration.Builder()
                .setConfiguration(conf)
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(4)
                .build());
        cluster.start();
        return new Flink(cluster, await(cluster.getRestAddress()), hdfs.uri());
    }

    private static Configuration clusterConf(Lab.Options options, Hdfs hdfs) {
        Configuration conf = new Configuration();
        conf.setString("rest.address", "localhost");
        conf.setString("rest.bind-address", "localhost");
        conf.setString("rest.port", Integer.toString(options.flinkPort()));
        conf.setString("rest.bind-port", Integer.toString(options.flinkPort()));
        conf.setString("jobmanager.bind-host", "localhost");
        conf.setString("taskmanager.host", "localhost");
        conf.setString("taskmanager.bind-host", "localhost");
        conf.setString("io.tmp.dirs", options.dir().resolve("flink").toString());
        conf.setString("taskmanager.memory.network.min", "32mb");
        conf.setString("taskmanager.memory.network.max", "32mb");
        conf.setString("taskmanager.memory.managed.size", "64mb");
        conf.setString("execution.checkpointing.dir", hdfs.uri() + Lab.HEALTHY_ROOT);
        // Small state would be kept inside `_metadata`; as files it fills `shared` the way large state does. A job cannot set this.
        conf.setString("execution.checkpointing.data-inline-threshold", "0b");
        conf.setString("execution.checkpointing.savepoint-dir", hdfs.uri() + Lab.SAVEPOINT_ROOT);
        hdfs.clientConf().forEach((key, value) -> conf.setString("flink.hadoop." + key, value));
        return conf;
    }

    String restUrl() {
        return "http://localhost:" + rest.getPort();
    }

    /** Starts a new job of the application with empty state, its run directory below {@code root}/{@code app}. */
    JobID submit(String app, String root, CountingJob.Rhythm rhythm) throws Exception {
        return submit(app, root, rhythm, SavepointRestoreSettings.none());
    }

    /** Starts a new job of the application from a restore point. */
    JobID restore(String app, RestoreMode mode, String path) throws Exception {
        Application before = find(app);
        return submit(app, before.root(), before.rhythm(), SavepointRestoreSettings.forPath(path, false, mode));
    }

    private JobID submit(String app, String root, CountingJob.Rhythm rhythm, SavepointRestoreSettings restore)
            throws Exception {
        Application before = applications.get(app);
        if (before != null && !status(before).isGloballyTerminalState()) {
            throw new IllegalStateException("job " + before.job() + " of " + app + " still runs; cancel it first");
        }
        JobGraph graph = CountingJob.graph(app, hdfs + root + "/" + app, rhythm);
        graph.setSavepointRestoreSettings(restore);
        JobID job = await(cluster.submitJob(graph)).getJobID();
        Application application = new Application(job, root, rhythm);
        applications.put(app, application);
        awaitStatus(application, JobStatus.RUNNING);
        return job;
    }

    /** Cancels the job of the application; its checkpoints are retained. */
    JobID cancel(String app) throws Exception {
        Application application = find(app);
        await(cluster.cancelJob(application.job()));
        awaitStatus(application, JobStatus.CANCELED);
        return application.job();
    }

    /** Takes a savepoint and returns its path. */
    String savepoint(String app) throws Exception {
        awaitTasks(app);
        return await(cluster.triggerSavepoint(
                find(app).job(), hdfs + Lab.SAVEPOINT_ROOT, false, SavepointFormatType.CANONICAL));
    }

    /** Takes a checkpoint now and returns its path. */
    String checkpoint(String app) throws Exception {
        awaitTasks(app);
        return await(cluster.triggerCheckpoint(find(app).job()));
    }

    /** Waits until all tasks run, which they do only with their state restored; what is asked for before is refused. */
    JobID awaitTasks(String app) throws Exception {
        Application application = find(app);
        long deadline = System.nanoTime() + DEADLINE.toNanos();
        while (System.nanoTime() < deadline) {
            AccessExecutionGraph graph = await(cluster.getExecutionGraph(application.job()));
            if (graph.getState().isGloballyTerminalState()) {
                throw ended(application, graph.getState());
            }
            boolean all = true;
            for (AccessExecutionVertex task : graph.getAllExecutionVertices()) {
                all &= task.getExecutionState() == ExecutionState.RUNNING;
            }
            if (all) {
                return application.job();
            }
            Thread.sleep(100);
        }
        throw new IOException("not all tasks of " + app + " run after " + DEADLINE.toSeconds() + " s");
    }

    private IOException ended(Application application, JobStatus status) throws Exception {
        ErrorInfo error = await(cluster.getExecutionGraph(application.job())).getFailureInfo();
        Throwable cause =
                error == null ? null : error.getException().deserializeError(Flink.class.getClassLoader());
        return new IOException("job " + application.job() + " ended as " + status, cause);
    }

    /** Waits until the application's job has a completed checkpoint. */
    void awaitCheckpoint(String app) throws Exception {
        Application application = find(app);
        long deadline = System.nanoTime() + DEADLINE.toNanos();
        while (System.nanoTime() < deadline) {
            CheckpointStatsSnapshot stats =
                    await(cluster.getExecutionGraph(application.job())).getCheckpointStatsSnapshot();
            if (stats != null && stats.getHistory().getLatestCompletedCheckpoint() != null) {
                return;
            }
            Thread.sleep(200);
        }
        throw new IOException("no checkpoint of " + app + " completed within " + DEADLINE.toSeconds() + " s");
    }

    private void awaitStatus(Application application, JobStatus wanted) throws Exception {
        long deadline = System.nanoTime() + DEADLINE.toNanos();
        while (System.nanoTime() < deadline) {
            JobStatus status = status(application);
            if (status == wanted) {
                return;
            }
            if (status.isGloballyTerminalState()) {
                throw ended(application, status);
            }
            Thread.sleep(100);
        }
        throw new IOException("job " + application.job() + " did not become " + wanted);
    }

    private JobStatus status(Application application) throws Exception {
        return await(cluster.getJobStatus(application.job()));
    }

    private Application find(String app) {
        Application application = applications.get(app);
        if (application == null) {
            throw new IllegalArgumentException("no application " + app + "; there are " + applications.keySet());
        }
        return application;
    }

    private static <T> T await(CompletableFuture<T> answer) throws Exception {
        return answer.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }

    @Override
    public void close() throws Exception {
        cluster.close();
    }
}
