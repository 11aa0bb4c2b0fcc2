import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FsShell;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.MiniDFSNNTopology;
import org.apache.hadoop.hdfs.protocol.HdfsConstants.SafeModeAction;
import org.apache.hadoop.util.ToolRunner;

/** One DataNode and one NameNode, or two with failover, on loopback. */
final class Hdfs implements AutoCloseable {
    /** Name of the nameservice where there are two NameNodes. */
    private static final String NAMESERVICE = "lab";
    private static final FsPermission OPEN_TO_ALL = new FsPermission((short) 0777);

    private final MiniDFSCluster cluster;
    private final boolean ha;
    /** What a client has to be told, as in core-site.xml and hdfs-site.xml. */
    private final Map<String, String> clientConf;
    private final java.nio.file.Path confDir;
    private final FileSystem fileSystem;
    private int active;

    private Hdfs(MiniDFSCluster cluster, Lab.Options options) throws IOException {
        this.cluster = cluster;
        this.ha = options.ha();
        this.clientConf = ha ? pairConf(cluster) : singleConf(cluster);
        this.confDir = options.dir().resolve("conf");
        this.fileSystem = FileSystem.get(URI.create(uri()), hadoopConf());
    }

    static Hdfs start(Lab.Options options) throws IOException {
        Configuration conf = new Configuration();
        // The Trash is on, as the server's default: what is moved there is kept for a day.
        conf.setInt("fs.trash.interval", 1440);
        // Real NameNodes answer for as long as they take; the default of 10 s is short for a loaded machine.
        conf.setInt("dfs.client.socket-timeout", 60_000);
        MiniDFSCluster.Builder builder = new MiniDFSCluster.Builder(conf, options.dir().resolve("hdfs").toFile())
                .numDataNodes(1)
                .format(true);
        if (options.ha()) {
            builder.nnTopology(pair(options));
        } else {
            builder.nameNodePort(options.hdfsPort()).nameNodeHttpPort(options.webHdfsPort());
        }
        MiniDFSCluster cluster = builder.build();
        if (options.ha()) {
            cluster.transitionToActive(0);
        }
        cluster.waitActive(0);
        Hdfs hdfs = new Hdfs(cluster, options);
        hdfs.makeDirectories();
        hdfs.writeClientConf();
        return hdfs;
    }

    /** The given ports are those of the first NameNode; the second takes free ones. */
    private static MiniDFSNNTopology pair(Lab.Options options) {
        return new MiniDFSNNTopology().addNameservice(new MiniDFSNNTopology.NSConf(NAMESERVICE)
                .addNN(new MiniDFSNNTopology.NNConf("nn1")
                        .setIpcPort(options.hdfsPort())
                        .setHttpPort(options.webHdfsPort()))
                .addNN(new MiniDFSNNTopology.NNConf("nn2")));
    }

    private static Map<String, String> singleConf(MiniDFSCluster cluster) {
        Map<String, String> conf = new TreeMap<>();
        conf.put("fs.defaultFS", "hdfs://localhost:" + cluster.getNameNodePort(0));
        conf.put("dfs.namenode.http-address", httpAddress(cluster, 0));
        return conf;
    }

    private static Map<String, String> pairConf(MiniDFSCluster cluster) {
        Map<String, String> conf = new TreeMap<>();
        conf.put("fs.defaultFS", "hdfs://" + NAMESERVICE);
        conf.put("dfs.nameservices", NAMESERVICE);
        conf.put("dfs.ha.namenodes." + NAMESERVICE, "nn1,nn2");
        conf.put("dfs.client.failover.proxy.provider." + NAMESERVICE,
                "org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider");
        for (int i = 0; i < 2; i++) {
            String suffix = "." + NAMESERVICE + ".nn" + (i + 1);
            conf.put("dfs.namenode.rpc-address" + suffix, "localhost:" + cluster.getNameNodePort(i));
            conf.put("dfs.namenode.http-address" + suffix, httpAddress(cluster, i));
        }
        return conf;
    }

    private static String httpAddress(MiniDFSCluster cluster, int nameNode) {
        return "localhost:" + cluster.getNameNode(nameNode).getHttpAddress().getPort();
    }

    /** The resource center's directory as the scheduler makes it, and a home so that a move to the Trash works. */
    private void makeDirectories() throws IOException {
        FileSystem.mkdirs(fileSystem, new Path("/dolphinscheduler/etl/resources"), OPEN_TO_ALL);
        FileSystem.mkdirs(fileSystem, new Path("/dolphinscheduler/etl/udfs"), OPEN_TO_ALL);
        fileSystem.mkdirs(new Path("/user/hdfs"));
    }

    private void writeClientConf() throws IOException {
        Files.createDirectories(confDir);
        writeConf("core-site.xml", key -> key.startsWith("fs."));
        writeConf("hdfs-site.xml", key -> key.startsWith("dfs."));
    }

    private void writeConf(String name, java.util.function.Predicate<String> keys) throws IOException {
        Configuration conf = new Configuration(false);
        clientConf.forEach((key, value) -> {
            if (keys.test(key)) {
                conf.set(key, value);
            }
        });
        try (OutputStream out = Files.newOutputStream(confDir.resolve(name))) {
            conf.writeXml(out);
        }
    }

    /** The file system as jobs and clients name it. */
    String uri() {
        return clientConf.get("fs.defaultFS");
    }

    /** Base URLs of the NameNodes' web servers. */
    List<String> webHdfsUrls() {
        List<String> urls = new ArrayList<>();
        for (int i = 0; i < cluster.getNumNameNodes(); i++) {
            urls.add("http://" + httpAddress(cluster, i));
        }
        return urls;
    }

    /** The directory with the client's core-site.xml and hdfs-site.xml. */
    java.nio.file.Path confDir() {
        return confDir;
    }

    Map<String, String> clientConf() {
        return clientConf;
    }

    private Configuration hadoopConf() {
        Configuration conf = new Configuration();
        clientConf.forEach(conf::set);
        return conf;
    }

    /** Makes the other NameNode active and returns its web address. */
    String failOver() throws IOException {
        if (!ha) {
            throw new IllegalStateException("there is one NameNode only; start the lab with --ha");
        }
        int next = 1 - active;
        cluster.transitionToStandby(active);
        cluster.transitionToActive(next);
        active = next;
        return webHdfsUrls().get(active);
    }

    void setSafeMode(boolean on) throws IOException {
        DistributedFileSystem hdfs = cluster.getFileSystem(active);
        hdfs.setSafeMode(on ? SafeModeAction.SAFEMODE_ENTER : SafeModeAction.SAFEMODE_LEAVE);
    }

    /** Deletes with everything below and without Trash; false if nothing was there. */
    boolean delete(String path) throws IOException {
        return fileSystem.delete(new Path(path), true);
    }

    /** Runs a command of {@code hdfs dfs}; its words go to the log. */
    int shell(String... arguments) throws Exception {
        int status = ToolRunner.run(new FsShell(hadoopConf()), arguments);
        if (status != 0) {
            throw new IOException("hdfs dfs " + String.join(" ", arguments) + " ended with " + status);
        }
        return status;
    }

    void put(String path, String text) throws IOException {
        try (FSDataOutputStream out = fileSystem.create(new Path(path), true)) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
    }

    @Override
    public void close() {
        cluster.shutdown(true);
    }
}
