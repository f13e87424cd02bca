package securepush

import org.json.JSONObject

/** An answer that does not count. [code] says more. */
class AnswerFailure internal constructor(
    /** Why. */
    val reason: Reason,
    code: DiagnosticCode
) : SecurePushFailure(code) {
    /** Why an answer does not count. */
    enum class Reason {
        /** One of the user's devices has given another answer before. */
        ANSWERED_DIFFERENTLY,
        /** The notification has expired or was revoked, or the challenge was wrong too often. */
        OVER,
        /** The sender does not ask for this answer, or the challenge is wrong. The user may try again. */
        WRONG,
        /** The server was not reached, or has refused the request. */
        FAILED
    }
}

internal fun SecurePushClient.sendAnswer(
    id: PushID, action: String, text: String?, challenge: String?, deadline: Long
) {
    val device = unlessLocked { keeper.read() }?.registration?.installationID
    val body = JSONObject().put("Action", action).put("Text", text).put("Challenge", challenge).put("DeviceId", device)
    val call = RetrievalConnection.Call("api/notifications/$id/answer", "POST", json = "$body", success = 204)
    val outcome = connection.send(call, deadline)
    if (outcome is RetrievalConnection.Outcome.Success) return finishReading(listOf(id), deadline)
    val reason = when ((outcome as? RetrievalConnection.Outcome.Refused)?.status) {
        409 -> AnswerFailure.Reason.ANSWERED_DIFFERENTLY
        410 -> AnswerFailure.Reason.OVER
        422 -> AnswerFailure.Reason.WRONG
        else -> AnswerFailure.Reason.FAILED
    }
    throw AnswerFailure(reason, outcome.failure.code)
}
