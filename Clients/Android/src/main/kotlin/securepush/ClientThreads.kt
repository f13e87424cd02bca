package securepush

import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutorService
import java.util.concurrent.SynchronousQueue
import java.util.concurrent.ThreadPoolExecutor
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

/**
 * The threads on which the client sends requests, so that it can stop waiting for one. Tests inject simulated ones.
 *
 * Firebase wants the work done when `onMessageReceived` returns, so all functions of the client work on the caller's
 * thread and return at the end.
 */
interface ClientThreads {
    /** Runs work on another thread. */
    fun start(work: () -> Unit): ClientThread

    /** Makes a signal that is not set. */
    fun newSignal(): ClientSignal
}

/** Work on another thread. */
interface ClientThread {
    /** Interrupts the thread while it does this work. */
    fun interrupt()
}

/** Something that happens once. */
interface ClientSignal {
    /** It has happened. */
    fun set()

    /**
     * Waits until it has happened.
     *
     * @param millis the longest time to wait.
     * @return whether it has happened.
     */
    @Throws(InterruptedException::class)
    fun await(millis: Long): Boolean
}

/** Threads of a pool that ends those that have nothing to do. */
class SystemClientThreads : ClientThreads {
    override fun start(work: () -> Unit): ClientThread {
        val task = pool.submit(work)
        return object : ClientThread {
            override fun interrupt() {
                task.cancel(true)
            }
        }
    }

    override fun newSignal(): ClientSignal = object : ClientSignal {
        private val latch = CountDownLatch(1)

        override fun set() = latch.countDown()

        override fun await(millis: Long): Boolean = latch.await(millis, TimeUnit.MILLISECONDS)
    }

    private companion object {
        val count = AtomicInteger()

        /** One that had to wait for a thread would end too late. An abandoned one keeps its thread until it notices. */
        val pool: ExecutorService = ThreadPoolExecutor(
            0, Int.MAX_VALUE, 10, TimeUnit.SECONDS, SynchronousQueue<Runnable>()
        ) { work -> Thread(work, "SecurePush-${count.incrementAndGet()}").apply { isDaemon = true } }
    }
}
