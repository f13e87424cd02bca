package com.example.securepush

import android.app.Activity
import android.os.Bundle
import android.view.WindowManager
import android.widget.LinearLayout
import android.widget.ScrollView
import android.widget.TextView

/** A screen that is one column of views. */
abstract class ColumnActivity : Activity() {
    protected lateinit var session: Session
    protected lateinit var column: LinearLayout

    /** Whether neither screenshots nor the list of recent apps show it. */
    protected open val isPrivate = true

    override fun onCreate(state: Bundle?) {
        super.onCreate(state)
        if (isPrivate) {
            window.setFlags(WindowManager.LayoutParams.FLAG_SECURE, WindowManager.LayoutParams.FLAG_SECURE)
        }
        session = (applicationContext as ExampleApplication).session
        column = LinearLayout(this)
        column.orientation = LinearLayout.VERTICAL
        column.fitsSystemWindows = true
        val scroll = ScrollView(this)
        scroll.addView(column)
        setContentView(scroll)
    }

    protected fun onScreen(work: () -> Unit) = runOnUiThread { if (!isDestroyed) work() }

    /** A line of text that is not in the column yet. */
    protected fun line(content: String): TextView {
        val line = TextView(this)
        line.text = content
        return line
    }

    /** Shows a text alone. */
    protected fun say(content: String) {
        column.removeAllViews()
        column.addView(line(content))
    }
}
