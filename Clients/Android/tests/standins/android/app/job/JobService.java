package android.app.job;

import android.app.Service;

/** A stand-in for tests. */
public abstract class JobService extends Service {
    public int finished;
    public boolean wantsReschedule;

    public abstract boolean onStartJob(JobParameters parameters);
    public abstract boolean onStopJob(JobParameters parameters);

    public void jobFinished(JobParameters parameters, boolean wantsReschedule) {
        finished += 1;
        this.wantsReschedule = wantsReschedule;
    }
}
