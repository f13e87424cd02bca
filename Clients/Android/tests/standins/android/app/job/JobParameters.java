package android.app.job;

/** A stand-in for tests. */
public class JobParameters {
    public int getJobId() { return 1; }
}
