package securepush.vectors

import java.net.URI
import org.json.JSONArray
import org.json.JSONObject
import securepush.ClientLimits
import securepush.IncomingPush
import securepush.PushKeySet
import securepush.SecurePushClient
import securepush.SecurePushConfiguration
import securepush.StoredCredentials
import securepush.TokenCredentialsProvider
import securepush.WakeReport
import securepush.simulation.Simulation

/** One scenario of the vectors: a device, its server, and its wakes. */
internal class ScenarioRun(private val json: JSONObject) {
    private val simulation = Simulation(longest = 366L * 86_400_000)
    private val store = ScenarioStore()
    private val screen = ScenarioScreen()
    private val configuration: SecurePushConfiguration
    private val transport: ScriptedTransport
    var wakes = 0
        private set
    var requests = 0
        private set
    val complaints = ArrayList<String>()

    private class App(val client: SecurePushClient, val credentials: TokenCredentialsProvider)

    init {
        val settings = json.getJSONObject("configuration")
        val url = URI(settings.getString("retrievalUrl"))
        val keys = settings.child("pushKeys")?.let { PushKeySet.fromJwkSet(it.toString().toByteArray()) }
        configuration = SecurePushConfiguration(url, keys, limits = ClientLimits())
        transport = ScriptedTransport(json.getJSONArray("server").objects(), url, simulation)
        simulation.dateOffset = json.getLong("dateMs") - simulation.uptime
        json.child("credentials")?.let { credentials ->
            store.credentials = StoredCredentials(
                json.getString("user"), credentials.text("accessToken"),
                if (credentials.isNull("expiresAtMs")) null else credentials.getLong("expiresAtMs"),
                credentials.text("refreshToken")
            )
        }
    }

    fun complain(text: String) {
        complaints.add(text)
    }

    /** Runs all wakes. */
    fun all() = simulation.run {
        val faults = json.getJSONArray("faults").objects()
        var app = start()
        for ((number, wake) in json.getJSONArray("wakes").objects().withIndex()) {
            simulation.sleep(wake.getLong("afterMs"))
            if (begin(faults.filter { it.getInt("wake") == number })) app = start()
            val begin = simulation.uptime
            val report = run(wake, app)
            val end = simulation.uptime
            store.heal()
            compare(observation(report, begin, end, app.client), wake.getJSONObject("expect"), number)
            wakes += 1
        }
    }

    /** Starts a process. */
    private fun start(): App {
        val credentials =
            TokenCredentialsProvider(configuration.retrievalUrl, store, transport, simulation, simulation)
        return App(
            SecurePushClient(configuration, credentials, store, transport, screen, simulation, simulation), credentials
        )
    }

    /**
     * Sets up a wake with its faults.
     *
     * @return whether the process has started again.
     */
    private fun begin(faults: List<JSONObject>): Boolean {
        transport.sent.clear()
        screen.begin()
        var isNewProcess = false
        for (fault in faults) {
            val times = if (fault.isNull("times")) Int.MAX_VALUE else fault.getInt("times")
            when (fault.optString("error")) {
                "unwritable" -> store.refusedWrites = times
                "locked" -> store.isLocked = true
                "damaged" -> {
                    store.damage()
                    isNewProcess = true
                }
                "restarted" -> isNewProcess = true
                "refused" -> screen.refusals = times
                else -> simulation.dateOffset += fault.getLong("jumpMs")
            }
        }
        return isNewProcess
    }

    private fun run(wake: JSONObject, app: App): WakeReport = when (wake.getString("kind")) {
        "push", "object" -> app.client.handle(IncomingPush.of(wake.getJSONObject("push").texts()))
        "catchUp" -> app.client.catchUp()
        "logIn" -> {
            app.credentials.logIn(wake.getString("userName"), wake.getString("password"))
            app.client.resumeAfterLogIn()
        }
        else -> throw IllegalArgumentException(wake.getString("kind"))
    }

    /** What was seen, in the form of `expect`. */
    private fun observation(report: WakeReport, begin: Long, end: Long, client: SecurePushClient): JSONObject {
        val seen = screen.observation()
        seen.put("completions", 1)
        seen.put("completedAtMs", end - begin)
        seen.put("code", report.code?.rawValue ?: JSONObject.NULL)
        seen.put("result", RESULTS.getValue(report.result))
        seen.put("requests", JSONArray(transport.sent.map { it.json(begin) }))
        seen.put("waiting", JSONArray(client.waiting().map { it.rawValue }))
        requests += transport.sent.size
        return seen
    }

    private fun compare(seen: JSONObject, expected: JSONObject, number: Int) {
        for (name in expected.keys().asSequence().map { it as String }.sorted()) {
            val (was, should) = Pair(canonical(seen.opt(name)), canonical(expected.get(name)))
            if (was != should) complain("wake $number, $name was $was and should be $should")
        }
    }

    private companion object {
        val RESULTS = mapOf(
            WakeReport.Result.NEW_DATA to "newData", WakeReport.Result.NO_DATA to "noData",
            WakeReport.Result.FAILED to "failed"
        )

        /** A value's text, with the members of objects in order. */
        fun canonical(value: Any?): String = when (value) {
            is JSONObject -> value.keys().asSequence().map { it as String }.sorted()
                .joinToString(",", "{", "}") { "$it:${canonical(value.get(it))}" }
            is JSONArray -> (0 until value.length()).joinToString(",", "[", "]") { canonical(value.get(it)) }
            else -> "$value"
        }
    }
}
