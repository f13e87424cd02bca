package securepush.simulation

/**
 * A process of the device. It can die before or after the effect of any call of its store, transport or presenter, and
 * does nothing more then.
 *
 * @param lastPoint the number of the point at which it dies, from 1; `null`: it lives.
 */
class SimulatedProcess(private val simulation: Simulation, private val lastPoint: Int?) {
    /** Ends the threads of a dead process. */
    class Died : Error("The process died.")

    /** The names of the points that it has reached. */
    val points = ArrayList<String>()
    var isDead = false
        private set

    /** Runs the effect of a call, with a point before and one after it. */
    fun <R> call(name: String, effect: () -> R): R {
        simulation.pause()
        point("before $name")
        val result = try {
            effect()
        } catch (e: Exception) {
            point("after failed $name")
            throw e
        }
        point("after $name")
        return result
    }

    /**
     * Runs a body until its end or the death of the process.
     *
     * @return whether the process lives.
     */
    fun live(body: () -> Unit): Boolean {
        try {
            body()
        } catch (e: Died) {
            return false
        }
        return !isDead
    }

    private fun point(name: String) {
        if (!isDead) {
            points.add(name)
            if (points.size == lastPoint) isDead = true
        }
        if (isDead) throw Died()
    }
}
