package com.example.securepush

import android.app.Activity
import android.content.Intent
import android.os.Build
import android.os.Bundle
import android.text.InputType
import android.widget.Button
import android.widget.EditText
import android.widget.LinearLayout
import android.widget.TextView
import com.google.firebase.messaging.FirebaseMessaging
import org.unifiedpush.android.connector.UnifiedPush
import securepush.android.NotificationManagerPresenter

/** The tutorial's screen: user name, password, "Log in" and "Send push"; and the ways to the messages and devices. */
class MainActivity : Activity() {
    private lateinit var session: Session
    private lateinit var userName: EditText
    private lateinit var password: EditText
    private lateinit var logIn: Button
    private lateinit var sendPush: Button
    private lateinit var logOut: Button
    private lateinit var withoutGoogle: Button
    private lateinit var messages: Button
    private lateinit var devices: Button
    private lateinit var status: TextView

    override fun onCreate(state: Bundle?) {
        super.onCreate(state)
        session = (applicationContext as ExampleApplication).session
        layOut()
        session.onChange = { runOnUiThread { if (!isDestroyed) update() } }
        update()
        // Without this permission the system shows nothing.
        if (Build.VERSION.SDK_INT >= 33) requestPermissions(arrayOf("android.permission.POST_NOTIFICATIONS"), 0)
        if (session.usesUnifiedPush) chooseDistributor() else askFirebase()
        if (state == null) openMessage(intent)
    }

    override fun onNewIntent(intent: Intent) {
        super.onNewIntent(intent)
        openMessage(intent)
    }

    /** The user has tapped a notification: the intent has its ID. */
    private fun openMessage(intent: Intent) {
        val id = intent.getStringExtra(NotificationManagerPresenter.EXTRA_ID) ?: return
        startActivity(MessageActivity.intent(this, id))
    }

    private fun askFirebase() = FirebaseMessaging.getInstance().token.addOnCompleteListener { task ->
        session.tokenArrived(if (task.isSuccessful) task.result else null)
    }

    /** At each start: if the user has removed the last distributor, the default one takes its place. */
    private fun chooseDistributor() =
        UnifiedPush.tryUseCurrentOrDefaultDistributor(this) { isThere -> session.distributorChosen(isThere) }

    override fun onResume() {
        super.onResume()
        session.becomeActive()
    }

    override fun onDestroy() {
        session.onChange = {}
        super.onDestroy()
    }

    private fun layOut() {
        userName = field(R.string.app_user_name, InputType.TYPE_TEXT_FLAG_NO_SUGGESTIONS)
        password = field(R.string.app_password, InputType.TYPE_TEXT_VARIATION_PASSWORD)
        logIn = button(R.string.app_log_in) {
            session.logIn(userName.text.toString(), password.text.toString())
            password.setText("")
        }
        sendPush = button(R.string.app_send_push) { session.sendPush() }
        logOut = button(R.string.app_log_out) { session.logOut() }
        withoutGoogle = button(R.string.app_without_google) { chooseDistributor() }
        messages = button(R.string.app_messages) { startActivity(Intent(this, MessagesActivity::class.java)) }
        devices = button(R.string.app_devices) { startActivity(Intent(this, DevicesActivity::class.java)) }
        status = TextView(this)
        val column = LinearLayout(this)
        column.orientation = LinearLayout.VERTICAL
        column.fitsSystemWindows = true
        column.setPadding(PADDING, PADDING, PADDING, PADDING)
        for (view in listOf(userName, password, logIn, sendPush, logOut, withoutGoogle, messages, devices, status)) {
            column.addView(view)
        }
        setContentView(column)
    }

    /** As in the tutorial, "Log in" works once the token is known. UnifiedPush has none. */
    private fun update() {
        logIn.isEnabled = session.hasChannel && !session.isLoggedIn
        sendPush.isEnabled = session.isLoggedIn
        logOut.isEnabled = session.isLoggedIn
        messages.isEnabled = session.isLoggedIn
        devices.isEnabled = session.isLoggedIn
        withoutGoogle.isEnabled = !session.usesUnifiedPush
        status.text = when (session.status) {
            Session.Status.WAITING_FOR_TOKEN -> getString(R.string.app_status_waiting)
            Session.Status.NO_TOKEN -> getString(R.string.app_status_no_token)
            Session.Status.NO_DISTRIBUTOR -> getString(R.string.app_status_no_distributor)
            Session.Status.WAITING_FOR_ENDPOINT -> getString(R.string.app_status_waiting_for_endpoint)
            Session.Status.LOGGED_OUT -> getString(R.string.app_status_logged_out)
            Session.Status.REGISTERED -> getString(R.string.app_status_registered)
            Session.Status.SENT -> getString(R.string.app_status_sent)
            Session.Status.WRONG_PASSWORD -> getString(R.string.app_failure_password)
            Session.Status.NO_KEY -> getString(R.string.app_failure_no_key, session.reason)
            Session.Status.NO_ENDPOINT -> getString(R.string.app_failure_no_endpoint, session.reason)
            Session.Status.NOT_SENT -> getString(R.string.app_failure_not_sent, session.reason)
            Session.Status.FAILED -> failureText(session.reason)
        }
    }

    private fun field(hint: Int, type: Int): EditText {
        val field = EditText(this)
        field.setHint(getString(hint))
        field.inputType = InputType.TYPE_CLASS_TEXT or type
        field.setSingleLine(true)
        return field
    }

    private fun button(title: Int, action: () -> Unit): Button {
        val button = Button(this)
        button.text = getString(title)
        button.setOnClickListener { action() }
        return button
    }

    private companion object {
        const val PADDING = 48
    }
}
