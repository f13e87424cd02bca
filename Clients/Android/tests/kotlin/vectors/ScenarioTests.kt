package securepush.vectors

import org.junit.Test

/**
 * The scenarios that all SDKs run, with simulated time. Their expectations come from a model that shares no code with
 * this SDK.
 */
class ScenarioTests {
    @Test
    fun fetchPlans() = run("fetch-plans.json", "cases", 300)

    @Test
    fun withdrawals() = run("withdrawals.json", "cases", 15)

    @Test
    fun hostileAnswers() = run("hostile.json", "answers", 50)

    private fun run(file: String, list: String, fewest: Int) {
        val cases = VectorFolder.cases(file, list)
        // A message of Firebase has texts only.
        val ours = cases.filter { vector ->
            vector.getJSONArray("wakes").objects().none { it.getString("kind") == "object" && !hasTextsOnly(it) }
        }
        val complaints = ArrayList<String>()
        var (wakes, requests) = Pair(0, 0)
        for (vector in ours) {
            val run = ScenarioRun(vector)
            try {
                run.all()
            } catch (e: Exception) {
                run.complain("$e at ${e.stackTrace.take(5)}")
            }
            wakes += run.wakes
            requests += run.requests
            run.complaints.firstOrNull()?.let { complaints.add("${vector.getString("name")}: $it") }
        }
        val more = " with $wakes wakes and $requests requests"
        VectorFolder.report("$file $list", cases.size, cases.size - ours.size, fewest, complaints, more)
    }

    private fun hasTextsOnly(wake: org.json.JSONObject): Boolean {
        val push = wake.getJSONObject("push")
        return push.keys().asSequence().all { push.get(it as String) is String }
    }
}
