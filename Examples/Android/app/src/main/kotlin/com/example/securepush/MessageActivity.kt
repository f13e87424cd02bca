package com.example.securepush

import android.app.Activity
import android.content.Context
import android.content.Intent
import android.os.Bundle
import android.view.WindowManager
import android.widget.ScrollView
import android.widget.TextView
import securepush.PushID

/** One message, in its whole length. */
class MessageActivity : Activity() {
    private lateinit var session: Session
    private lateinit var text: TextView

    override fun onCreate(state: Bundle?) {
        super.onCreate(state)
        // Neither screenshots nor the list of recent apps show the message.
        window.setFlags(WindowManager.LayoutParams.FLAG_SECURE, WindowManager.LayoutParams.FLAG_SECURE)
        session = (applicationContext as ExampleApplication).session
        text = TextView(this)
        text.fitsSystemWindows = true
        val scroll = ScrollView(this)
        scroll.addView(text)
        setContentView(scroll)
    }

    /** The message is fetched each time, so that it is gone when the sender has revoked it or the user has left. */
    override fun onResume() {
        super.onResume()
        val id = PushID.of(intent.getStringExtra(ID)) ?: return finish()
        session.loadMessage(id, { say(it) }, { say(getString(R.string.app_status_failed, it)) })
    }

    override fun onStop() {
        text.text = ""
        super.onStop()
    }

    private fun say(content: String) = runOnUiThread { if (!isDestroyed) text.text = content }

    companion object {
        private const val ID = "id"

        /** The intent that shows a message. */
        fun intent(context: Context, id: String): Intent =
            Intent(context, MessageActivity::class.java).putExtra(ID, id)
    }
}
