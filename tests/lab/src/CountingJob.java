import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.streaming.api.graph.StreamGraph;

/** Counts per key, for ever, with incremental RocksDB checkpoints that are retained when the job is cancelled. */
final class CountingJob {
    private static final long KEYS = 1000;

    private CountingJob() {}

    /** When a job checkpoints. */
    enum Rhythm {
        /** Every two seconds; a job whose tasks fail starts again, for ever. */
        STEADY,
        /** Only when it is asked to, so that nothing changes behind an observer; a job whose tasks fail has failed. */
        ON_DEMAND
    }

    static JobGraph graph(String name, String checkpointDir, Rhythm rhythm) {
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(conf(checkpointDir, rhythm));
        env.setParallelism(1);
        env.fromSource(numbers(), WatermarkStrategy.noWatermarks(), "numbers")
                .uid("numbers")
                .keyBy(number -> number % KEYS)
                .map(new Count())
                .uid("count")
                .sinkTo(new DiscardingSink<>())
                .uid("sink");
        StreamGraph graph = env.getStreamGraph();
        graph.setJobName(name);
        return graph.getJobGraph();
    }

    private static Configuration conf(String checkpointDir, Rhythm rhythm) {
        Configuration conf = new Configuration();
        conf.setString("execution.checkpointing.dir", checkpointDir);
        // Without an interval there are no checkpoints at all; the first one comes at a random time within it.
        conf.setString("execution.checkpointing.interval", rhythm == Rhythm.STEADY ? "2s" : "5000h");
        if (rhythm == Rhythm.ON_DEMAND) {
            conf.setString("restart-strategy.type", "disable");
            // The few megabytes of a slot are flushed and compacted all the time, so no file would outlive its checkpoint.
            conf.setString("state.backend.rocksdb.memory.managed", "false");
        }
        conf.setString("execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION");
        conf.setString("execution.checkpointing.incremental", "true");
        conf.setString("state.backend.type", "rocksdb");
        return conf;
    }

    private static DataGeneratorSource<Long> numbers() {
        return new DataGeneratorSource<>(
                number -> number, Long.MAX_VALUE, RateLimiterStrategy.perSecond(2 * KEYS), Types.LONG);
    }

    /** How often the key was seen. */
    private static final class Count extends RichMapFunction<Long, Long> {
        private transient ValueState<Long> seen;

        @Override
        public void open(OpenContext context) {
            seen = getRuntimeContext().getState(new ValueStateDescriptor<>("seen", Types.LONG));
        }

        @Override
        public Long map(Long number) throws Exception {
            Long before = seen.value();
            long now = before == null ? 1 : before + 1;
            seen.update(now);
            return now;
        }
    }
}
