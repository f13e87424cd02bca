package securepush.android

import android.app.Notification
import android.app.NotificationChannel
import android.app.NotificationManager
import android.app.PendingIntent
import android.content.Context
import android.net.Uri
import android.os.Bundle
import securepush.DiagnosticCode
import securepush.GenericNotice
import securepush.LogInPrompt
import securepush.NotificationPresenter
import securepush.PushID
import securepush.SecretNotification

/**
 * Shows notifications by the system's notification manager.
 *
 * The texts are the string resources `securepush_…`, which an app can replace and translate. On the lock screen the
 * system shows the generic text in place of the secret, unless the user has allowed sensitive content there. No
 * notification goes to watches and computers that the device is connected with.
 *
 * @param smallIcon the drawable resource of the icon in the status bar.
 * @param channelID the notification channel, which is created with high importance if the app has none of this ID.
 * @param onBadge gets the number of unread notifications. Android has no number on the icon of its own; launchers count
 *   the notifications that are shown.
 */
class NotificationManagerPresenter @JvmOverloads constructor(
    private val context: Context,
    private val smallIcon: Int,
    private val channelID: String = "securepush",
    private val onBadge: (Int) -> Unit = {}
) : NotificationPresenter {
    private val manager: NotificationManager =
        checkNotNull(context.getSystemService(NotificationManager::class.java)) { "There is no notification manager." }

    /** The system does not show a notification. */
    class Refused internal constructor(message: String) : Exception(message)

    override fun show(secret: SecretNotification) {
        val tag = secret.id.rawValue
        checkAllowed(tag)
        val extras = Bundle()
        extras.putString(KIND, KIND_SECRET)
        // The system cuts texts off, and a call with a very long one fails.
        val whole = secret.text ?: ""
        val text = if (whole.length > MAX_TEXT) whole.take(MAX_TEXT) + "…" else whole
        val public = builder(context.getString(R.string.securepush_hidden), secret.id).build()
        post(tag, builder(text, secret.id).addExtras(extras).setPublicVersion(public).build())
    }

    override fun show(notice: GenericNotice) {
        val text = when (notice.kind) {
            GenericNotice.Kind.GENERIC -> generic(notice.code)
            GenericNotice.Kind.LOCKED -> context.getString(R.string.securepush_locked)
        }
        post(notice.id?.rawValue ?: NOTICE_TAG, builder(text, notice.id).build())
    }

    private fun generic(code: DiagnosticCode?): String =
        if (code == null) context.getString(R.string.securepush_in_app) else
            context.getString(R.string.securepush_generic, code.rawValue)

    override fun show(prompt: LogInPrompt) {
        val text = context.getString(R.string.securepush_log_in, prompt.code.rawValue)
        // The texts of its notifications say no more than the prompt.
        for (id in prompt.ids) manager.cancel(id.rawValue, ID)
        post(PROMPT_TAG, builder(text, null).build())
    }

    override fun remove(ids: List<PushID>) {
        for (id in ids) manager.cancel(id.rawValue, ID)
    }

    override fun removePrompt() {
        manager.cancel(PROMPT_TAG, ID)
        manager.cancel(NOTICE_TAG, ID)
    }

    override fun setBadge(count: Int) = onBadge(count)

    override fun displayedSecrets(): Set<PushID>? = manager.activeNotifications
        .filter { it.id == ID && it.notification.extras.getString(KIND) == KIND_SECRET }
        .mapNotNullTo(HashSet()) { PushID.of(it.tag) }

    /**
     * The system drops what it must not show without a word. The secret then waits for the next wake.
     *
     * @throws Refused
     */
    private fun checkAllowed(tag: String) {
        if (!manager.areNotificationsEnabled()) throw Refused("The user has not allowed notifications.")
        val channel = manager.getNotificationChannel(channelID)
        if (channel != null && channel.importance == NotificationManager.IMPORTANCE_NONE) {
            throw Refused("The user has turned the channel off.")
        }
        val active = manager.activeNotifications
        if (active.size >= MAX_ACTIVE && active.none { it.tag == tag && it.id == ID }) {
            throw Refused("The system shows no more notifications of this app.")
        }
    }

    private fun post(tag: String, notification: Notification) = manager.notify(tag, ID, notification)

    private fun builder(text: String, id: PushID?): Notification.Builder {
        createChannel()
        val builder = Notification.Builder(context, channelID)
            .setSmallIcon(smallIcon)
            .setContentText(text)
            .setStyle(Notification.BigTextStyle().bigText(text))
            .setVisibility(Notification.VISIBILITY_PRIVATE)
            .setAutoCancel(true)
            // Watches and computers have locks of their own, which the SDK does not know.
            .setLocalOnly(true)
        openApp(id)?.let { builder.setContentIntent(it) }
        return builder
    }

    /** Creating a channel that exists changes nothing that the user has chosen. */
    private fun createChannel() {
        if (manager.getNotificationChannel(channelID) != null) return
        val name = context.getString(R.string.securepush_channel)
        val channel = NotificationChannel(channelID, name, NotificationManager.IMPORTANCE_HIGH)
        channel.lockscreenVisibility = Notification.VISIBILITY_PRIVATE
        manager.createNotificationChannel(channel)
    }

    /** Opens the app, with the ID in [EXTRA_ID]. */
    private fun openApp(id: PushID?): PendingIntent? {
        val intent = context.packageManager.getLaunchIntentForPackage(context.packageName) ?: return null
        // The extra does not tell two intents apart, and the hashes of two IDs may be equal.
        id?.let { intent.putExtra(EXTRA_ID, it.rawValue).setData(Uri.parse("securepush:${it.rawValue}")) }
        val flags = PendingIntent.FLAG_IMMUTABLE or PendingIntent.FLAG_UPDATE_CURRENT
        return PendingIntent.getActivity(context, id.hashCode(), intent, flags)
    }

    companion object {
        /** The extra of the intent that opens the app: the notification's ID. */
        const val EXTRA_ID = "securepush.id"

        private const val ID = 0x5350
        private const val KIND = "securepush.kind"
        private const val KIND_SECRET = "secret"
        private const val PROMPT_TAG = "securepush.log-in"
        private const val NOTICE_TAG = "securepush.notice"
        private const val MAX_TEXT = 4_096
        /** Android drops notifications beyond a limit per app, 25 on the versions with the smallest one. */
        private const val MAX_ACTIVE = 24
    }
}
