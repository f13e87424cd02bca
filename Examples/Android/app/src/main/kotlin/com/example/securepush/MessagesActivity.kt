package com.example.securepush

import android.widget.Button
import java.text.DateFormat
import java.util.Date
import securepush.InboxEntry

/** The user's messages, the newest first. The list says nothing of their texts; a tap opens one. */
class MessagesActivity : ColumnActivity() {
    /** It shows no text of a message. */
    override val isPrivate = false

    override fun onResume() {
        super.onResume()
        session.loadMessages(
            { entries -> onScreen { show(entries) } },
            { code -> onScreen { say(failureText(code)) } }
        )
    }

    private fun show(entries: List<InboxEntry>) {
        if (entries.isEmpty()) return say(getString(R.string.app_messages_none))
        column.removeAllViews()
        for (entry in entries) {
            val row = Button(this)
            val time = entry.createdAt?.let { DateFormat.getDateTimeInstance().format(Date.from(it)) } ?: ""
            row.text = getString(if (entry.isRead) R.string.app_message_read else R.string.app_message_new, time)
            row.setOnClickListener { startActivity(MessageActivity.intent(this, entry.id.rawValue)) }
            column.addView(row)
        }
    }
}
