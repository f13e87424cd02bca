package com.example.securepush

import android.app.Activity
import android.os.Bundle
import android.view.WindowManager
import android.widget.Button
import android.widget.LinearLayout
import android.widget.ScrollView
import android.widget.TextView
import java.text.DateFormat
import java.util.Date
import securepush.UserDevice

/** The user's devices, each with a button that removes it, and the fingerprint of this device's key. */
class DevicesActivity : Activity() {
    private lateinit var session: Session
    private lateinit var column: LinearLayout

    override fun onCreate(state: Bundle?) {
        super.onCreate(state)
        window.setFlags(WindowManager.LayoutParams.FLAG_SECURE, WindowManager.LayoutParams.FLAG_SECURE)
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
        load()
    }

    private fun load() = session.loadDevices(
        { devices, fingerprint -> onScreen { show(devices, fingerprint) } }, { onScreen { fail(it) } }
    )

    private fun onScreen(work: () -> Unit) = runOnUiThread { if (!isDestroyed) work() }

    private fun show(devices: List<UserDevice>, fingerprint: String?) {
        column.removeAllViews()
        say(fingerprint?.let { getString(R.string.app_fingerprint, it) } ?: getString(R.string.app_fingerprint_none))
        for (device in devices) {
            val day = device.lastSeenAt?.let { DateFormat.getDateInstance().format(Date.from(it)) } ?: ""
            val text = if (device.isThisDevice) R.string.app_device_this else R.string.app_device
            say(getString(text, device.platform, day))
            if (!device.isThisDevice) {
                button(R.string.app_device_remove) {
                    session.removeDevice(device.id, { load() }, { onScreen { fail(it) } })
                }
            }
        }
        button(R.string.app_sign_out_everywhere) {
            session.signOutEverywhere({ onScreen { finish() } }, { onScreen { fail(it) } })
        }
    }

    private fun fail(reason: String) {
        column.removeAllViews()
        say(getString(R.string.app_status_failed, reason))
    }

    private fun say(text: String) {
        val line = TextView(this)
        line.text = text
        column.addView(line)
    }

    private fun button(title: Int, action: () -> Unit) {
        val button = Button(this)
        button.text = getString(title)
        button.setOnClickListener { action() }
        column.addView(button)
    }
}
