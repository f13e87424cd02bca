package securepush.android

import android.app.job.JobInfo
import android.app.job.JobParameters
import android.app.job.JobScheduler
import android.app.job.JobService
import android.content.ComponentName
import android.content.Context
import java.util.concurrent.atomic.AtomicBoolean
import securepush.ClientThread
import securepush.SecurePushClient
import securepush.WakeReport
import securepush.isRegistrationDue

/** The job that fetches later what could not be fetched when the push came. There is one per app. */
internal class CatchUpJob(private val context: Context) {
    /** Schedules the job, in place of an earlier one, for when there is a network. */
    fun schedule() {
        val service = ComponentName(context, SecurePushCatchUpService::class.java)
        val job = JobInfo.Builder(ID, service)
            .setRequiredNetworkType(JobInfo.NETWORK_TYPE_ANY)
            .setMinimumLatency(LATENCY)
            .setBackoffCriteria(LATENCY, JobInfo.BACKOFF_POLICY_EXPONENTIAL)
            .build()
        change { it.schedule(job) }
    }

    /** Schedules the job, unless it is scheduled or runs: what comes again and again must not put it off. */
    fun scheduleUnlessPending() = change { if (it.getPendingJob(ID) == null) schedule() }

    /** Removes the job after a wake, unless there is something left for it. */
    fun end(report: WakeReport, client: SecurePushClient) {
        val isUnfinished = report.code?.canHeal ?: false
        if (!isUnfinished && !client.isRegistrationDue && !client.hasDepartures) change { it.cancel(ID) }
    }

    /** Without a job, the next push or the next start of the app does the work. */
    private fun change(action: (JobScheduler) -> Unit) {
        try {
            context.getSystemService(JobScheduler::class.java)?.let(action)
        } catch (e: RuntimeException) {
            // The system has refused it, for example because the app's manifest removes the service.
            return
        }
    }

    internal companion object {
        /** The job's number, which must be the app's only one of this value. */
        const val ID = 0x5350_0001
        /** After the wake that makes it unnecessary. */
        const val LATENCY = 30_000L
    }
}

/** Does the work of the job. The library's manifest names it. */
class SecurePushCatchUpService : JobService() {
    private class Work {
        val isOver = AtomicBoolean()
        @Volatile var thread: ClientThread? = null
    }

    private var work: Work? = null

    override fun onStartJob(parameters: JobParameters): Boolean {
        val client = securePushHost().securePushClient
        val work = Work()
        this.work = work
        work.thread = client.threads.start {
            var isUnfinished = true
            try {
                val report = client.catchUp()
                val isRegistered = !client.isRegistrationDue || registers()
                isUnfinished = !isRegistered || client.hasDepartures || report.code?.canHeal ?: false
            } finally {
                if (work.isOver.compareAndSet(false, true)) jobFinished(parameters, isUnfinished)
            }
        }
        return true
    }

    /** @return whether the channel is registered now, or trying again does not help. */
    private fun registers(): Boolean = try {
        securePushHost().securePushChannel.renew()
    } catch (e: InterruptedException) {
        Thread.currentThread().interrupt()
        false
    }

    /** The time is up, or the network is gone. The system starts the job again. */
    override fun onStopJob(parameters: JobParameters): Boolean {
        val work = work ?: return false
        if (!work.isOver.compareAndSet(false, true)) return false
        work.thread?.interrupt()
        return true
    }
}
