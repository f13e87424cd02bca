package android.app.job;

import android.content.ComponentName;

/** A stand-in for tests. */
public class JobInfo {
    public static final int NETWORK_TYPE_ANY = 1;
    public static final int BACKOFF_POLICY_EXPONENTIAL = 1;
    public int id;
    public ComponentName service;
    public int network;
    public long latency;
    public long backoff;

    /** A stand-in for tests. */
    public static class Builder {
        private final JobInfo made = new JobInfo();

        public Builder(int id, ComponentName service) {
            made.id = id;
            made.service = service;
        }

        public Builder setRequiredNetworkType(int type) { made.network = type; return this; }
        public Builder setMinimumLatency(long millis) { made.latency = millis; return this; }
        public Builder setBackoffCriteria(long millis, int policy) { made.backoff = millis; return this; }
        public JobInfo build() { return made; }
    }
}
