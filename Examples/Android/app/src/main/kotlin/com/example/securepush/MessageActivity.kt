package com.example.securepush

import android.content.Context
import android.content.Intent
import android.widget.Button
import android.widget.EditText
import securepush.AnswerFailure
import securepush.Message
import securepush.PushID
import securepush.SecretNotification

/** One message, in its whole length: title, text, link, and the buttons by which the user answers. */
class MessageActivity : ColumnActivity() {
    /** The message is fetched each time, so that it is gone when the sender has revoked it or the user has left. */
    override fun onResume() {
        super.onResume()
        val id = PushID.of(intent.getStringExtra(ID)) ?: return finish()
        session.loadMessage(id, { onScreen { show(it) } }, { onScreen { say(failureText(it)) } })
    }

    override fun onStop() {
        column.removeAllViews()
        super.onStop()
    }

    private fun show(secret: SecretNotification) {
        column.removeAllViews()
        val message = secret.message
        // A real app knows what its sender's other payloads mean.
        if (message == null) return say(secret.json)
        message.title?.let { column.addView(line(it)) }
        column.addView(line(message.body))
        // A link is text of the sender. A real app opens only those that lead to itself.
        message.link?.let { column.addView(line(getString(R.string.app_message_link, it))) }
        if (message.actions.isNotEmpty()) showAnswers(secret.id, message.actions)
    }

    /** The sender may show a number elsewhere, which the user copies, so that nobody approves by mistake. */
    private fun showAnswers(id: PushID, actions: List<Message.Action>) {
        val challenge = field(R.string.app_answer_challenge)
        val text = if (actions.any { it.takesText }) field(R.string.app_answer_text) else null
        val result = line("")
        for (action in actions) {
            val button = Button(this)
            button.text = action.title
            button.setOnClickListener {
                session.answer(
                    id, action.id, written(text).takeIf { action.takesText }, written(challenge),
                    { onScreen { result.text = getString(R.string.app_answer_sent) } },
                    { failure -> onScreen { result.text = reason(failure) } }
                )
            }
            column.addView(button)
        }
        column.addView(result)
    }

    private fun reason(failure: AnswerFailure): String = when (failure.reason) {
        AnswerFailure.Reason.ANSWERED_DIFFERENTLY -> getString(R.string.app_answer_other)
        AnswerFailure.Reason.OVER -> getString(R.string.app_answer_over)
        AnswerFailure.Reason.WRONG -> getString(R.string.app_answer_wrong)
        AnswerFailure.Reason.FAILED -> failureText(failure.code.rawValue)
    }

    private fun field(hint: Int): EditText {
        val field = EditText(this)
        field.setHint(getString(hint))
        column.addView(field)
        return field
    }

    private fun written(field: EditText?): String? = field?.text?.toString()?.trim()?.takeIf { it != "" }

    companion object {
        private const val ID = "id"

        /** The intent that shows a message. */
        fun intent(context: Context, id: String): Intent =
            Intent(context, MessageActivity::class.java).putExtra(ID, id)
    }
}
