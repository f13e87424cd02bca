package android.app.job;

import java.util.HashMap;
import java.util.Map;

/** A stand-in for tests. */
public class JobScheduler {
    public final Map<Integer, JobInfo> jobs = new HashMap<>();
    public int scheduled;
    public boolean refuses;

    public int schedule(JobInfo job) {
        if (refuses) throw new IllegalArgumentException("No such service");
        scheduled += 1;
        jobs.put(job.id, job);
        return 1;
    }

    public JobInfo getPendingJob(int id) { return jobs.get(id); }

    public void cancel(int id) { jobs.remove(id); }
}
