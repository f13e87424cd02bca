package securepush.android

import android.app.Notification
import android.app.PendingIntent
import android.app.RemoteInput
import android.content.BroadcastReceiver
import android.content.Context
import android.content.Intent
import android.net.Uri
import android.os.Build
import securepush.AnswerFailure
import securepush.GenericNotice
import securepush.Message
import securepush.PushID
import securepush.SecurePushClient
import securepush.sendAnswer

/** Makes the buttons of a notification by which the user answers. */
internal class AnswerActions(private val context: Context) {
    fun make(id: PushID, action: Message.Action): Notification.Action {
        val intent = Intent(context, SecurePushAnswerReceiver::class.java)
            // Extras do not tell two intents apart.
            .setData(Uri.parse("securepush:${id.rawValue}/${action.id}"))
            .putExtra(EXTRA_ID, id.rawValue).putExtra(EXTRA_ACTION, action.id)
        // The system writes the user's text into the intent.
        val mutability = when {
            !action.takesText -> PendingIntent.FLAG_IMMUTABLE
            Build.VERSION.SDK_INT >= 31 -> PendingIntent.FLAG_MUTABLE
            else -> 0
        }
        val pending = PendingIntent.getBroadcast(
            context, id.hashCode(), intent, mutability or PendingIntent.FLAG_UPDATE_CURRENT
        )
        val builder = Notification.Action.Builder(null, action.title, pending)
        if (action.takesText) builder.addRemoteInput(RemoteInput.Builder(EXTRA_TEXT).setLabel(action.title).build())
        // A thief of a locked device cannot approve anything.
        if (Build.VERSION.SDK_INT >= 31) builder.setAuthenticationRequired(true)
        return builder.build()
    }

    companion object {
        const val EXTRA_ID = "securepush.id"
        const val EXTRA_ACTION = "securepush.action"
        const val EXTRA_TEXT = "securepush.text"
    }
}

/**
 * Sends the answer that the user has chosen on a notification. The library's manifest names it. The notification goes
 * when the server has the answer; otherwise it says why not, and a tap opens the app.
 */
class SecurePushAnswerReceiver : BroadcastReceiver() {
    override fun onReceive(context: Context, intent: Intent) {
        val id = PushID.of(intent.getStringExtra(AnswerActions.EXTRA_ID)) ?: return
        val action = intent.getStringExtra(AnswerActions.EXTRA_ACTION) ?: return
        val text = RemoteInput.getResultsFromIntent(intent)?.getCharSequence(AnswerActions.EXTRA_TEXT)?.toString()
        val client = context.securePushHost().securePushClient
        val pending = goAsync()
        client.threads.start {
            try {
                client.answerInTime(id, action, text)
            } finally {
                pending?.finish()
            }
        }
    }
}

/** Answers within the time that Android gives a receiver. */
private fun SecurePushClient.answerInTime(id: PushID, action: String, text: String?) {
    try {
        sendAnswer(id, action, text, null, clock.uptime + MILLIS_FOR_ANSWER)
    } catch (e: AnswerFailure) {
        val kind = when (e.reason) {
            AnswerFailure.Reason.WRONG -> GenericNotice.Kind.ANSWER_IN_APP
            AnswerFailure.Reason.OVER, AnswerFailure.Reason.ANSWERED_DIFFERENTLY -> GenericNotice.Kind.ANSWER_TOO_LATE
            AnswerFailure.Reason.FAILED -> GenericNotice.Kind.ANSWER_NOT_SENT
        }
        presenter.show(GenericNotice(id, kind, e.code))
    }
}

/** Android gives a receiver 10 s. */
private const val MILLIS_FOR_ANSWER = 9_000L
