package securepush.simulation

import java.util.ArrayList
import java.util.Random
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors
import java.util.concurrent.Semaphore
import securepush.ClientClock
import securepush.ClientSignal
import securepush.ClientThread
import securepush.ClientThreads

/**
 * Runs threads one at a time, in an order that a seed decides. When nothing can run, simulated time moves to the next
 * moment at which somebody waits to be woken.
 *
 * Time therefore never passes while the client works, however slow the machine is, and a run with the same seed is the
 * same run. Each thread is a real one, which waits for its turn whenever it is not its turn.
 *
 * @param longest how long a run may take, in simulated milliseconds.
 * @param seed 0 runs threads in the order in which they became ready; every other seed is another order.
 */
class Simulation(private val seed: Long = 0, private val longest: Long = 86_400_000) : ClientClock, ClientThreads {
    /** Ends the threads that are left when a simulation is over. */
    private class Over : Error("The simulation is over.")

    private class Task {
        val turn = Semaphore(0)
        val ended = CountDownLatch(1)
        var thread: Thread? = null
        var isInterrupted = false
        /** When it wakes; `null` while it is ready or runs. */
        var end: Long? = null
        var number = 0L
    }

    private val random = Random(seed)
    private val ready = ArrayList<Task>()
    private val sleeping = ArrayList<Task>()
    private val alive = ArrayList<Task>()
    private val current = ThreadLocal<Task>()
    private var main = Task()
    private var count = 0L
    private var isOver = false
    private var isStuck = false

    override var uptime = START
        private set

    /** The time of day minus [uptime]. A fault makes it jump. */
    var dateOffset = 1_800_000_000_000 - START

    override val date: Long get() = uptime + dateOffset

    /** Runs a body on this thread to its end. What is left then ends, too. */
    fun <R> run(body: () -> R): R {
        main.thread = Thread.currentThread()
        current.set(main)
        try {
            return body()
        } finally {
            isOver = true
            for (task in ArrayList(alive)) {
                task.turn.release()
                task.ended.await()
            }
            Thread.interrupted()
            current.remove()
        }
    }

    /** Lets another thread run first, if the seed says so. */
    fun pause() {
        if (isOver) throw Over()
        if (seed == 0L || ready.isEmpty()) return
        val task = current.get()
        ready.add(task)
        switch(task)
    }

    override fun sleep(millis: Long) {
        if (Thread.interrupted()) throw InterruptedException()
        if (millis <= 0) return
        suspend(uptime + millis)
        if (Thread.interrupted()) throw InterruptedException()
    }

    override fun start(work: () -> Unit): ClientThread {
        val task = Task()
        if (isOver) throw Over()
        alive.add(task)
        ready.add(task)
        pool.execute {
            task.turn.acquireUninterruptibly()
            begin(task, work)
        }
        return object : ClientThread {
            override fun interrupt() = interrupt(task)
        }
    }

    private fun begin(task: Task, work: () -> Unit) {
        task.thread = Thread.currentThread()
        current.set(task)
        if (task.isInterrupted) Thread.currentThread().interrupt()
        try {
            if (!isOver) work()
        } catch (e: Error) {
            // The process died, or the simulation is over.
            if (e !is Over && e !is SimulatedProcess.Died) e.printStackTrace()
        } catch (e: Exception) {
            // As in a real thread, this ends it.
        } finally {
            Thread.interrupted()
            current.remove()
            alive.remove(task)
            if (!isOver) next().turn.release()
            task.ended.countDown()
        }
    }

    private fun interrupt(task: Task) {
        if (isOver || task !in alive) return
        task.isInterrupted = true
        task.thread?.interrupt()
        if (task.end != null) wake(task)
    }

    override fun newSignal(): ClientSignal = object : ClientSignal {
        private var isSet = false
        private val waiting = ArrayList<Task>()

        override fun set() {
            if (isOver) return
            isSet = true
            for (task in waiting) if (task.end != null) wake(task)
            waiting.clear()
        }

        override fun await(millis: Long): Boolean {
            if (isOver) throw Over()
            if (Thread.interrupted()) throw InterruptedException()
            if (isSet || millis <= 0) return isSet
            waiting.add(current.get())
            suspend(uptime + millis)
            waiting.remove(current.get())
            if (Thread.interrupted()) throw InterruptedException()
            return isSet
        }
    }

    private fun suspend(end: Long) {
        if (isOver) throw Over()
        val task = current.get()
        task.end = end
        task.number = count++
        sleeping.add(task)
        switch(task)
    }

    private fun wake(task: Task) {
        sleeping.remove(task)
        task.end = null
        ready.add(task)
    }

    private fun switch(task: Task) {
        val next = next()
        if (next !== task) {
            next.turn.release()
            task.turn.acquireUninterruptibly()
        }
        if (isOver) throw Over()
        if (isStuck && task === main) throw IllegalStateException("The run does not end: everybody waits for ever.")
    }

    /** The thread whose turn it is. */
    private fun next(): Task {
        if (ready.isEmpty()) {
            val first = sleeping.minWith(compareBy({ it.end ?: 0 }, { it.number }))
            if (first == null || (first.end ?: 0) > START + longest) {
                isStuck = true
                sleeping.remove(main)
                main.end = null
                return main
            }
            uptime = maxOf(uptime, first.end ?: 0)
            wake(first)
        }
        return ready.removeAt(if (seed == 0L) 0 else random.nextInt(ready.size))
    }

    private companion object {
        const val START = 1_000_000L
        val pool = Executors.newCachedThreadPool { work -> Thread(work).apply { isDaemon = true } }
    }
}
