package securepush.faults

import org.junit.Assert.assertEquals
import org.junit.Test

/**
 * Every fault at every stage, with simulated time: one completion each, within 28 s, with the generic text in place
 * of a secret that could not be had; and when everything works again, each secret is shown once.
 */
class FaultTableTests {
    @Test
    fun everyFaultAtEveryStageEndsOnceAndInTime() {
        val complaints = ArrayList<String>()
        var (cells, struck, completions) = Triple(0, 0, 0)
        var (secrets, hints, jobs) = Triple(0, 0, 0)
        var slowest = Pair(0L, "")
        for (cell in FaultCell.all(0)) {
            val seen = try {
                cell.run()
            } catch (e: Exception) {
                complaints.add("$cell: $e at ${e.stackTrace.take(4)}")
                continue
            }
            cells += 1
            if (seen.struck && cell.fault.kind != Fault.Kind.NONE) struck += 1
            completions += seen.completions
            secrets += minOf(1, seen.shown)
            if (seen.shown == 0) hints += 1
            if (seen.hasJob) jobs += 1
            if (seen.millis > slowest.first) slowest = Pair(seen.millis, cell.toString())
            val wrong = wrong(cell, seen)
            if (wrong.isNotEmpty()) complaints.add("$cell: ${wrong.joinToString()}")
        }
        println(
            "Fault table: ${Fault.all.size - 1} faults and none × ${Stage.values().size} stages × 2 lengths × " +
                "${FaultCell.Way.values().size} ways, $cells cells; the fault struck in $struck. Completions " +
                "$completions, one per cell. The wake showed the secret in $secrets cells; in $hints it did not, and " +
                "$jobs left a job. Slowest: ${slowest.first} ms (${slowest.second}). Wrong: ${complaints.size}."
        )
        println("  Not on Android: the way alert. There is no service extension; FCM gives each push to the app.")
        println("  Not on Android: hostile pushes that are no object of texts. A message of FCM has nothing else.")
        complaints.take(30).forEach { println("  $it") }
        assertEquals(0, complaints.size)
        assertEquals(34 * 13 * 2 * 4, cells)
        assertEquals(cells, completions)
    }

    private fun wrong(cell: FaultCell, seen: FaultCell.Observation): List<String> {
        val wrong = ArrayList<String>()
        if (!seen.struck && !cell.cannotStrike) wrong.add("the fault did not strike")
        if (seen.completions != 1) wrong.add("${seen.completions} completions")
        // The job has ten minutes, and registers after the wake.
        val wakes = if (cell.stage == Stage.REGISTER && cell.way == FaultCell.Way.JOB) 2 else 1
        if (seen.millis > wakes * 28_000) wrong.add("${seen.millis} ms")
        if (seen.shown > 1) wrong.add("shown ${seen.shown} times")
        val isUntold = seen.shown == 0 && seen.hints == 0 && !cell.looksTooOld && cell.way != FaultCell.Way.JOB
        if (isUntold) wrong.add("the user sees nothing")
        if (seen.strayRequests > 0) wrong.add("${seen.strayRequests} requests to another host")
        if (seen.leaks > 0) wrong.add("${seen.leaks} texts that are nobody's")
        if (seen.finallyShown.any { it > if (cell.mayForget) 2 else 1 }) wrong.add("finally ${seen.finallyShown}")
        if (seen.finallyShown.any { it == 0 }) wrong.add("lost: finally ${seen.finallyShown}")
        // Only the app's next start registers after what does not heal, and after the loss of the state.
        val isDue = cell.stage == Stage.REGISTER && !seen.isAppAsked && !cell.mayForget
        if (isDue && seen.registered.first() != true) wrong.add("the channel is not registered")
        if (seen.registered.lastOrNull() == true) wrong.add("registered after unregister()")
        return wrong
    }

    /** A fault of something that the stage has not: the fault has no place to strike. */
    private val FaultCell.cannotStrike: Boolean get() = fault.kind == Fault.Kind.NONE

    /** A push whose signature seems to be old, or to come from the future, is ignored (contract, section A). */
    private val FaultCell.looksTooOld: Boolean
        get() = (fault.kind == Fault.Kind.CLOCK_FORWARD || fault.kind == Fault.Kind.CLOCK_BACK) &&
            (stage == Stage.PARSE || stage == Stage.VERIFY || stage == Stage.STORE || stage == Stage.TIME_WILL_EXPIRE ||
                stage == Stage.REGISTER)

    /**
     * Shown IDs are forgotten when the state is damaged. A push that the server repeats then shows the secret again.
     */
    private val FaultCell.mayForget: Boolean get() = fault.kind == Fault.Kind.STORE_CORRUPT
}
