package securepush

import java.io.File
import kotlin.system.exitProcess
import org.junit.Test
import org.junit.runner.Description
import org.junit.runner.JUnitCore
import org.junit.runner.notification.Failure
import org.junit.runner.notification.RunListener

/** Runs all tests of the compiled classes in a folder. Arguments: the folder, and optionally parts of class names. */
fun main(arguments: Array<String>) {
    val folder = File(arguments[0])
    val classes = folder.walkTopDown().filter { it.name.endsWith("Tests.class") }
        .map { Class.forName(it.relativeTo(folder).path.removeSuffix(".class").replace(File.separatorChar, '.')) }
        .filter { type -> type.methods.any { it.isAnnotationPresent(Test::class.java) } }
        .filter { type -> arguments.size < 2 || arguments.drop(1).any { it in type.name } }
        .sortedBy { it.name }.toList()
    val core = JUnitCore()
    core.addListener(object : RunListener() {
        private var begin = 0L

        override fun testStarted(description: Description) {
            begin = System.nanoTime()
        }

        override fun testFinished(description: Description) {
            val millis = (System.nanoTime() - begin) / 1_000_000
            println("  ${description.testClass.simpleName}.${description.methodName} ($millis ms)")
        }

        override fun testFailure(failure: Failure) = println("FAILED ${failure.description}\n${failure.trace}")
    })
    val result = core.run(*classes.toTypedArray())
    println("${classes.size} classes, ${result.runCount} tests in ${result.runTime} ms")
    println("${result.runCount - result.failureCount} passed, ${result.failureCount} failed")
    exitProcess(if (result.wasSuccessful() && result.runCount > 0) 0 else 1)
}
