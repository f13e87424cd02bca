package com.example.securepush

import android.app.Activity
import android.os.Bundle
import android.widget.Button
import android.widget.LinearLayout
import android.widget.ScrollView
import android.widget.TextView
import java.text.DateFormat
import java.util.Date
import securepush.InboxEntry

/** The user's messages, the newest first. The list says nothing of their texts; a tap opens one. */
class MessagesActivity : Activity() {
    private lateinit var session: Session
    private lateinit var column: LinearLayout

    override fun onCreate(state: Bundle?) {
        super.onCreate(state)
        session = (applicationContext as ExampleApplication).session
        column = LinearLayout(this)
        column.orientation = LinearLayout.VERTICAL
        column.fitsSystemWindows = true
        val scroll = ScrollView(this)
        scroll.addView(column)
        setContentView(scroll)
    }

    override fun onResume() {
        super.onResume()
        session.loadMessages(
            { entries -> onScreen { show(entries) } },
            { reason -> onScreen { say(getString(R.string.app_status_failed, reason)) } }
        )
    }

    private fun onScreen(work: () -> Unit) = runOnUiThread { if (!isDestroyed) work() }

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

    private fun say(text: String) {
        val line = TextView(this)
        line.text = text
        column.removeAllViews()
        column.addView(line)
    }
}
