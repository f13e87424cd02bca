package securepush.units

import java.io.File
import org.junit.Assert.assertEquals
import org.junit.Test
import securepush.SDK_VERSION

/** The sources themselves. */
class SourceTests {
    private val sources = File("src/main/kotlin").walkTopDown().filter { it.extension == "kt" }.toList()

    @Test
    fun theCoreIsPlainJvmCode() {
        val core = sources.filter { it.parentFile.name == "securepush" }
        val imports = core.flatMap { it.readLines() }.filter { it.startsWith("import ") }
        assertEquals(emptyList<String>(), imports.filter { "android" in it || "google" in it })
        check(core.size > 20)
    }

    @Test
    fun nothingIsLogged() {
        val words = listOf("println(", "android.util.Log", "printStackTrace", "java.util.logging", "System.out")
        for (file in sources) for (word in words) check(word !in file.readText()) { "$word in $file" }
    }

    /** Kotlin 1.3, which compiles the tests, returns `null` for an empty list. Kotlin 2, which compiles apps, throws. */
    @Test
    fun nothingMeansSomethingElseInKotlin2() {
        val function = Regex("\\.(min|max)(By|With)?\\s*[({]")
        for (file in sources) check(!function.containsMatchIn(file.readText())) { "$file" }
    }

    @Test
    fun filesAndLinesAreShort() {
        for (file in sources) {
            val lines = file.readLines()
            check(lines.size <= 400) { "$file has ${lines.size} lines" }
            assertEquals("$file", 0, lines.count { it.length > 120 })
        }
    }

    @Test
    fun theVersionIsThatOfTheBuildFile() =
        check("version = \"$SDK_VERSION\"" in File("build.gradle.kts").readText()) { SDK_VERSION }

    /** The texts of the library exist in every language. */
    @Test
    fun everyTextIsTranslated() {
        for (folder in listOf("src/main/res", "../../Examples/Android/app/src/main/res")) {
            val names = listOf("values", "values-de").map { language ->
                Regex("name=\"([a-z_]+)\"").findAll(File("$folder/$language/strings.xml").readText())
                    .map { it.groupValues[1] }.toList()
            }
            assertEquals(names[0], names[1])
        }
    }
}
