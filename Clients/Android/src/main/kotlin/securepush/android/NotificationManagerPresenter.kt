package securepush.android

import android.app.Notification
import android.app.NotificationChannel
import android.app.NotificationManager
import android.app.PendingIntent
import android.content.Context
import android.net.Uri
import android.os.Bundle
import securepush.ClientClock
import securepush.DiagnosticCode
import securepush.GenericNotice
import securepush.LogInPrompt
import securepush.Message
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
 * A message whose category is the ID of one of the app's notification channels is shown in that channel.
 *
 * @param smallIcon the drawable resource of the icon in the status bar.
 * @param channelID the notification channel, which is created with high importance if the app has none of this ID. The
 *   one for passive messages has the same ID and `.passive`, and makes no sound.
 * @param onBadge gets the number of unread notifications. Android has no number on the icon of its own; launchers count
 *   the notifications that are shown.
 * @param clock tells when a message expires.
 */
class NotificationManagerPresenter @JvmOverloads constructor(
    private val context: Context,
    private val smallIcon: Int,
    private val channelID: String = "securepush",
    private val onBadge: (Int) -> Unit = {},
    private val clock: ClientClock = AndroidClock()
) : NotificationPresenter {
    private val manager: NotificationManager =
        checkNotNull(context.getSystemService(NotificationManager::class.java)) { "There is no notification manager." }
    private val actions = AnswerActions(context)

    /** The system does not show a notification. */
    class Refused internal constructor(message: String) : Exception(message)

    override fun show(secret: SecretNotification) {
        val message = secret.message ?: throw Refused("Only the app knows what this is.")
        val tag = secret.id.rawValue
        val channel = channel(message)
        checkAllowed(tag, channel)
        val extras = Bundle()
        extras.putString(KIND, KIND_SECRET)
        val public = builder(context.getString(R.string.securepush_hidden), secret.id, channel).build()
        val builder = builder(cut(message.body), secret.id, channel).addExtras(extras).setPublicVersion(public)
        // A time that has passed would be no time-out at all.
        val millis = secret.expiresAt?.let { maxOf(1, it.toEpochMilli() - clock.date) }
        message.title?.let { builder.setContentTitle(it) }
        if (message.category in SYSTEM_CATEGORIES) builder.setCategory(message.category)
        for (action in message.actions) builder.addAction(actions.make(secret.id, action))
        millis?.let { builder.setTimeoutAfter(it) }
        message.thread?.let { thread ->
            builder.setGroup(GROUP + thread)
            summarize(GROUP + thread, channel, tag, millis)
        }
        post(tag, builder.build())
    }

    /** The system cuts texts off, and a call with a very long one fails. */
    private fun cut(text: String): String = if (text.length > MAX_TEXT) text.take(MAX_TEXT) + "…" else text

    /**
     * Shows what stands for a thread where the system folds it. It says nothing, and makes no sound of its own. It goes
     * with the last message; if the system removes that, then at the same time, or at the next wake.
     */
    private fun summarize(group: String, channel: String, tag: String, millis: Long?) {
        val others = manager.activeNotifications.filter { it.notification.group == group && it.tag != group }
        val summary = builder(context.getString(R.string.securepush_hidden), null, channel).setGroup(group)
            .setGroupSummary(true).setGroupAlertBehavior(Notification.GROUP_ALERT_CHILDREN)
        if (millis != null && others.all { it.tag == tag }) summary.setTimeoutAfter(millis)
        post(group, summary.build())
    }

    override fun show(notice: GenericNotice) {
        val text = when (notice.kind) {
            GenericNotice.Kind.GENERIC -> generic(notice.code)
            GenericNotice.Kind.LOCKED -> context.getString(R.string.securepush_locked)
            GenericNotice.Kind.ANSWER_NOT_SENT ->
                context.getString(R.string.securepush_answer_not_sent, notice.code?.rawValue ?: "")
            GenericNotice.Kind.ANSWER_IN_APP -> context.getString(R.string.securepush_answer_in_app)
            GenericNotice.Kind.ANSWER_TOO_LATE -> context.getString(R.string.securepush_answer_too_late)
        }
        post(notice.id?.rawValue ?: NOTICE_TAG, builder(text, notice.id, makeChannel()).build())
    }

    private fun generic(code: DiagnosticCode?): String =
        if (code == null) context.getString(R.string.securepush_in_app) else
            context.getString(R.string.securepush_generic, code.rawValue)

    override fun show(prompt: LogInPrompt) {
        val text = context.getString(R.string.securepush_log_in, prompt.code.rawValue)
        // The texts of its notifications say no more than the prompt.
        for (id in prompt.ids) manager.cancel(id.rawValue, ID)
        post(PROMPT_TAG, builder(text, null, makeChannel()).build())
    }

    override fun remove(ids: List<PushID>) {
        for (id in ids) manager.cancel(id.rawValue, ID)
        val (summaries, others) = manager.activeNotifications.filter { it.id == ID }
            .partition { it.tag.startsWith(GROUP) }
        val groups = others.mapNotNull { it.notification.group }
        for (summary in summaries) if (summary.tag !in groups) manager.cancel(summary.tag, ID)
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
    private fun checkAllowed(tag: String, channelID: String) {
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

    private fun builder(text: String, id: PushID?, channel: String): Notification.Builder {
        val builder = Notification.Builder(context, channel)
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

    /** The channel of a message: the one for passive ones, the app's own for its category, or the usual one. */
    private fun channel(message: Message): String {
        val category = message.category
        return when {
            message.level == Message.Level.PASSIVE -> makeChannel(isPassive = true)
            category != null && manager.getNotificationChannel(category) != null -> category
            else -> makeChannel()
        }
    }

    /** Creating a channel that exists changes nothing that the user has chosen. */
    private fun makeChannel(isPassive: Boolean = false): String {
        val id = if (isPassive) "$channelID.passive" else channelID
        if (manager.getNotificationChannel(id) != null) return id
        val name = if (isPassive) R.string.securepush_channel_passive else R.string.securepush_channel
        val importance = if (isPassive) NotificationManager.IMPORTANCE_LOW else NotificationManager.IMPORTANCE_HIGH
        val channel = NotificationChannel(id, context.getString(name), importance)
        channel.lockscreenVisibility = Notification.VISIBILITY_PRIVATE
        manager.createNotificationChannel(channel)
        return id
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
        /** Before a thread: the group, and the tag of its summary. No ID has a dot. */
        private const val GROUP = "securepush.thread."
        private const val MAX_TEXT = 4_096
        /** Android drops notifications beyond a limit per app, 25 on the versions with the smallest one. */
        private const val MAX_ACTIVE = 24
        /** The categories of Android that a sender may name. Others, such as calls, are treated in special ways. */
        private val SYSTEM_CATEGORIES = setOf(
            Notification.CATEGORY_MESSAGE, Notification.CATEGORY_EMAIL, Notification.CATEGORY_EVENT,
            Notification.CATEGORY_PROMO, Notification.CATEGORY_REMINDER, Notification.CATEGORY_SOCIAL,
            Notification.CATEGORY_STATUS, Notification.CATEGORY_ERROR, Notification.CATEGORY_RECOMMENDATION
        )
    }
}
