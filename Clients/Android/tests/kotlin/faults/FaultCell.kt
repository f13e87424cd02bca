package securepush.faults

import android.app.job.JobParameters
import com.google.firebase.messaging.FirebaseMessaging
import com.google.firebase.messaging.RemoteMessage
import securepush.DiagnosticCode
import securepush.PushID
import securepush.SecurePushFailure
import securepush.WakeReport
import securepush.android.SecurePushCatchUpService
import securepush.android.SecurePushMessagingService
import securepush.simulation.SimulatedDevice
import securepush.simulation.Simulation

/**
 * One cell of the table: a wake with one fault at one stage, and afterwards a device on which everything works again.
 */
class FaultCell(
    val fault: Fault, val stage: Stage, private val length: FaultLength, val way: Way, private val seed: Long
) {
    /** How the push reaches the client. */
    enum class Way {
        /** A call of the client. */
        DIRECT,
        /** A message of Firebase to the SDK's service. */
        SERVICE,
        /** The job, after the process that got the message has died. */
        JOB,
        /** A call. With `DISPATCH_WITHDRAW=read` the next wakes are withdrawals of what the server saw fetched. */
        ECHO
    }

    override fun toString(): String = "$fault at $stage, $length, $way, seed $seed"

    /** What was seen. */
    class Observation {
        var struck = false
        var completions = 0
        var millis = 0L
        /** How often the secret of the push was shown in the wake. */
        var shown = 0
        var hints = 0
        /** Whether a job is left that tries again. */
        var hasJob = false
        /** How often each of the two secrets was shown at the end, after everything worked again. */
        var finallyShown: List<Int> = emptyList()
        /** Whether Firebase's service was told that the channel is not registered, and that the app has to do it. */
        var isAppAsked = false
        /** Whether the server has the channel when the job has run, and after unregister(). */
        var registered: List<Boolean> = emptyList()
        var strayRequests = 0
        var leaks = 0
    }

    private val device = SimulatedDevice(Simulation(seed))
    private val simulation = device.simulation

    fun run(): Observation = simulation.run { observe() }

    private fun observe(): Observation {
        val seen = Observation()
        val plan = FaultPlan(fault, stage, length, device)
        val missed = device.server.send()
        val pushed = device.server.send()
        prepare(pushed)
        val message = RemoteMessage(device.data(pushed))
        val app = device.start(faults = plan)
        plan.attack = {
            for (push in HostilePush.all(pushed)) simulation.start { app.client.handle(push) }
        }
        plan.reach(Stage.PARSE)
        plan.reach(Stage.VERIFY)
        if (stage == Stage.TIME_WILL_EXPIRE) plan.reach(Stage.TIME_WILL_EXPIRE)
        if (stage == Stage.REGISTER) {
            plan.reach(Stage.REGISTER)
            changeChannel(app, seen)
        }
        wake(app, message, seen)
        if (stage == Stage.RESUME) resume(app, plan, seen)
        // Whatever still runs must not complete again.
        simulation.sleep(60_000)
        seen.struck = plan.hasStruck
        seen.shown = device.screen.count(pushed)
        seen.hints = device.screen.hints
        seen.hasJob = device.jobs.jobs.isNotEmpty()
        val last = recover(plan, listOf(missed, pushed), app)
        if (stage == Stage.REGISTER) leave(last, seen)
        seen.finallyShown = listOf(missed, pushed).map { device.screen.count(it) }
        seen.strayRequests = device.server.strayRequests
        val payloads = device.server.stored.map { it.payload }
        seen.leaks = device.screen.shown.count { it.second !in payloads }
        return seen
    }

    /** Before the push: the user has logged in, and the access token is good, expired, refused or gone. */
    private fun prepare(pushed: PushID) {
        device.logIn()
        if (stage == Stage.REGISTER) device.start().let { it.client.register(it.securePushDevice("first")) }
        if (way == Way.JOB) {
            // The process dies before the first request, and leaves the job.
            val app = device.start(diesAt = 15)
            val service = SecurePushMessagingService()
            service.attachBaseContext(app)
            check(!app.process.live { service.onMessageReceived(RemoteMessage(device.data(pushed))) })
            check(device.jobs.jobs.isNotEmpty()) { app.process.points.toString() }
        }
        when (stage) {
            Stage.RESUME -> device.server.endSessions()
            Stage.TOKEN -> simulation.dateOffset += 2 * 3_600_000
            Stage.REFRESH -> device.server.revokeAccessTokens()
            else -> Unit
        }
    }

    private fun wake(app: SimulatedDevice.App, message: RemoteMessage, seen: Observation) {
        val begin = simulation.uptime
        val limit = if (stage == Stage.TIME_WILL_EXPIRE) 2_000L else null
        when (way) {
            Way.DIRECT, Way.ECHO -> {
                val push = securepush.IncomingPush.of(message.data)
                if (limit == null) app.client.handle(push) else app.client.handle(push, limit)
                seen.completions += 1
            }
            Way.SERVICE -> {
                val service = object : SecurePushMessagingService() {
                    override val millisPerMessage: Long get() = limit ?: super.millisPerMessage

                    override fun onWake(report: WakeReport) {
                        seen.completions += 1
                    }
                }
                service.attachBaseContext(app)
                service.onMessageReceived(message)
            }
            Way.JOB -> runJob(app, limit, seen)
        }
        seen.millis = simulation.uptime - begin
    }

    /** The system runs the job. After the limit it stops it. */
    private fun runJob(app: SimulatedDevice.App, limit: Long?, seen: Observation) {
        val service = SecurePushCatchUpService()
        service.attachBaseContext(app)
        val end = simulation.uptime + (limit ?: 600_000)
        check(service.onStartJob(JobParameters()))
        // The job was taken out of the list when it began.
        device.jobs.jobs.clear()
        while (service.finished == 0 && simulation.uptime < end) simulation.sleep(10)
        var isWanted = service.wantsReschedule
        seen.completions += service.finished
        if (service.onStopJob(JobParameters())) {
            isWanted = true
            seen.completions += 1
        }
        if (isWanted) securepush.android.CatchUpJob(app).schedule()
        val finished = service.finished
        simulation.start {
            simulation.sleep(50_000)
            seen.completions += service.finished - finished
        }
    }

    private fun changeChannel(app: SimulatedDevice.App, seen: Observation) {
        val service = object : SecurePushMessagingService() {
            override fun onRegistrationFailed(failure: SecurePushFailure) {
                seen.isAppAsked = !failure.code.canHeal
            }
        }
        service.attachBaseContext(app)
        service.onNewToken(FirebaseMessaging.token)
    }

    /** The job that is left runs, and then the app unregisters the device. */
    private fun leave(app: SimulatedDevice.App, seen: Observation) {
        fun isRegistered() = device.server.installations.values.any { FirebaseMessaging.token in it }
        if (device.jobs.jobs.isNotEmpty()) runJob(app, null, Observation())
        val before = isRegistered()
        app.client.unregister()
        changeChannel(app, Observation())
        seen.registered = listOf(before, isRegistered())
    }

    /** The prompt is on the screen; the user logs in, and then it goes wrong. */
    private fun resume(app: SimulatedDevice.App, plan: FaultPlan, seen: Observation) {
        device.logIn()
        plan.reach(Stage.RESUME)
        val begin = simulation.uptime
        app.client.resumeAfterLogIn()
        seen.millis = simulation.uptime - begin
    }

    /**
     * Everything works again, a minute later: the withdrawals that follow a fetch come, the app comes to the front, and
     * the user logs in if that is needed.
     */
    private fun recover(plan: FaultPlan, ids: List<PushID>, first: SimulatedDevice.App): SimulatedDevice.App {
        plan.heal()
        simulation.sleep(60_000)
        // What could not be stored is in the memory of the process. If that ends first, a secret may be shown again.
        val isMemoryNeeded = fault.kind == Fault.Kind.STORE_FULL || fault.kind == Fault.Kind.STORE_READ_ONLY ||
            fault.kind == Fault.Kind.STORE_HANGS || fault.kind == Fault.Kind.STORE_THROWS
        val app = if (isMemoryNeeded) first else device.start()
        if (way == Way.ECHO) device.echoReads { app }
        val report = app.client.catchUp()
        simulation.sleep(60_000)
        val isLoggedOut = report.code == DiagnosticCode.LOGGED_OUT || report.code == DiagnosticCode.status(401)
        if (device.screen.isPrompting || isLoggedOut) {
            device.logIn()
            app.client.resumeAfterLogIn()
        }
        // The sender repeats its push; what was shown must not be shown again, also not by another process.
        val next = device.start()
        for (id in ids) next.client.handle(device.push(id))
        next.client.catchUp()
        return app
    }

    companion object {
        fun all(seed: Long): List<FaultCell> = Fault.all.flatMap { fault ->
            Stage.values().flatMap { stage ->
                FaultLength.values().flatMap { length ->
                    Way.values().map { way -> FaultCell(fault, stage, length, way, seed) }
                }
            }
        }
    }
}
