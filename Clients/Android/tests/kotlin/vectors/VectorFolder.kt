package securepush.vectors

import java.io.File
import org.json.JSONArray
import org.json.JSONObject

/** The vectors that all SDKs run: `Clients/vectors`, or the folder of `SECUREPUSH_VECTORS`. */
internal object VectorFolder {
    private val folder = File(System.getenv("SECUREPUSH_VECTORS") ?: "../vectors")

    /** The cases of a file. */
    fun cases(file: String, list: String = "cases"): List<JSONObject> =
        JSONObject(File(folder, file).readText()).getJSONArray(list).objects()

    /** Prints a file's result, and fails if a case is wrong. */
    fun report(file: String, cases: Int, skipped: Int, fewest: Int, complaints: List<String>, more: String = "") {
        val why = if (skipped > 0) " (their forms never come to Android)" else ""
        println("Vectors, $file: ${cases - skipped} cases$more, $skipped skipped$why. Wrong: ${complaints.size}.")
        complaints.take(20).forEach { println("  $it") }
        check(complaints.isEmpty()) { "${complaints.size} cases of $file are wrong." }
        check(cases - skipped >= fewest) { "There are only ${cases - skipped} cases of $file." }
    }
}

internal fun JSONArray.objects(): List<JSONObject> = (0 until length()).map { getJSONObject(it) }

/** A member that is a text; `null` for null. */
internal fun JSONObject.text(name: String): String? = if (isNull(name)) null else getString(name)

/** A member that is an object; `null` for null. */
internal fun JSONObject.child(name: String): JSONObject? = if (isNull(name)) null else getJSONObject(name)

/** The members of an object of texts. */
internal fun JSONObject.texts(): Map<String, String> {
    val texts = LinkedHashMap<String, String>()
    for (name in keys()) texts[name as String] = getString(name)
    return texts
}
