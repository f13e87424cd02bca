package securepush

/** The result of one wake. */
data class WakeReport(
    /** The result. */
    val result: Result = Result.NO_DATA,
    /** The notifications whose secrets were shown, in this order. */
    val shown: List<PushID> = emptyList(),
    /** The notifications for which the user sees the generic text or the prompt. */
    val waiting: List<PushID> = emptyList(),
    /** Why not everything was shown; the first reason. */
    val code: DiagnosticCode? = null
) {
    /** What a wake came to. */
    enum class Result {
        /** Something was fetched, shown or removed. */
        NEW_DATA,
        /** There was nothing to do. */
        NO_DATA,
        /** Something could not be fetched. */
        FAILED
    }

    /** The report with the result of the next step. */
    internal operator fun plus(other: WakeReport): WakeReport = WakeReport(
        when {
            result == Result.NEW_DATA || other.result == Result.NEW_DATA -> Result.NEW_DATA
            result == Result.FAILED || other.result == Result.FAILED -> Result.FAILED
            else -> Result.NO_DATA
        },
        shown + other.shown, waiting + other.waiting.filter { it !in waiting }, code ?: other.code
    )

    internal companion object {
        fun failed(code: DiagnosticCode) = WakeReport(Result.FAILED, code = code)
    }
}
