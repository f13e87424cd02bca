package securepush

import java.time.Instant

/**
 * Shows notifications to the user. `NotificationManagerPresenter` is the one for Android.
 *
 * Everything is shown under an identifier, and replaces what was shown under the same one: [SecretNotification] and
 * [GenericNotice] use the notification's ID, the prompt and the notices without an ID use one identifier each.
 */
interface NotificationPresenter {
    /**
     * Shows a secret, whose [SecretNotification.message] is not `null`. It replaces the generic text of the same ID.
     * With [Display.REDACTED] the system hides the text while the device is locked. The presenter removes it when it
     * expires, if it can; if not, the next wake does so.
     *
     * @throws Exception if it was not shown. The client tries again at the next wake.
     */
    @Throws(Exception::class)
    fun show(secret: SecretNotification)

    /** Shows the generic text. */
    @Throws(Exception::class)
    fun show(notice: GenericNotice)

    /** Shows the prompt to log in. It replaces the last prompt. */
    @Throws(Exception::class)
    fun show(prompt: LogInPrompt)

    /** Removes the secrets and the generic texts of these IDs, and of no others. Unknown IDs change nothing. */
    fun remove(ids: List<PushID>)

    /** Removes the prompt to log in. */
    fun removePrompt()

    /** Sets the number on the app's icon, where the system has one. */
    fun setBadge(count: Int)

    /**
     * The IDs whose secrets (not generic texts) the user can see now; `null` if the system cannot tell. The client asks
     * after a crash, for a secret that it may have shown.
     */
    fun displayedSecrets(): Set<PushID>?
}

/** A secret to show. Its `toString` does not show it. */
class SecretNotification @JvmOverloads constructor(
    /** The notification's ID. */
    val id: PushID,
    /** The payload's JSON text, exactly as the sender wrote it. */
    val json: String,
    /** Whether one of the user's devices had fetched it before. */
    val wasRead: Boolean = false,
    /** How much of it is handed to the system: the stricter `display` of sender and app. */
    val display: Display = Display.FULL,
    /** When it expires; `null` if that is not known. */
    val expiresAt: Instant? = null
) {
    /** The payload, if it is a text or a message; `null` if only the app knows what it is. */
    val message: Message? by lazy { Message.of(json) }

    /** The text to show: the payload if it is a JSON string, or a message's body; `null` if it is neither. */
    val text: String? get() = message?.body

    /** Whether the system may get it. */
    internal val isForSystem: Boolean get() = message != null && display != Display.APP

    internal fun with(json: String, display: Display, expiresAt: Instant?) =
        SecretNotification(id, json, wasRead, display, expiresAt)

    override fun toString(): String = "secret $id"
}

/** The text that is shown in place of a secret that cannot be had now. */
data class GenericNotice(
    /** The notification's ID; `null` when the push had none that can be used. */
    val id: PushID?,
    /** Which text. */
    val kind: Kind,
    /** The reason; `null` if there is a secret, and it is not shown outside of the app. */
    val code: DiagnosticCode?
) {
    /** The texts. The app has them in its resources. */
    enum class Kind {
        /** Such as "You have a new message. Open the app to read it." */
        GENERIC,
        /** Such as "You may have new messages. Unlock your device to read them." */
        LOCKED,
        /** Such as "Your answer was not sent. Open the app to try again." */
        ANSWER_NOT_SENT,
        /** Such as "Open the app to answer.": the sender asks for a challenge. */
        ANSWER_IN_APP,
        /** Such as "This was answered before, or it is too late." */
        ANSWER_TOO_LATE
    }
}

/** The text that asks the user to log in. */
data class LogInPrompt(
    /** The notifications that wait for the log-in, oldest first. */
    val ids: List<PushID>,
    /** [DiagnosticCode.LOGGED_OUT] or 401. */
    val code: DiagnosticCode
)

/** Calls a presenter. Failures and time-outs of the system are ignored, except for secrets. */
internal class CarefulPresenter(private val presenter: NotificationPresenter, private val limit: CallLimit) {
    /**
     * Shows a secret; the generic text, if it is for the app only.
     *
     * @throws Exception if the system refuses, or does not answer.
     */
    fun present(secret: SecretNotification) = limit.run {
        if (secret.isForSystem) presenter.show(secret) else
            presenter.show(GenericNotice(secret.id, GenericNotice.Kind.GENERIC, null))
    }

    fun show(notice: GenericNotice) = quietly { presenter.show(notice) }

    fun show(prompt: LogInPrompt) = quietly { presenter.show(prompt) }

    fun remove(ids: List<PushID>) = quietly { presenter.remove(ids) }

    fun removePrompt() = quietly { presenter.removePrompt() }

    fun setBadge(count: Int) = quietly { presenter.setBadge(count) }

    fun displayedSecrets(): Set<PushID> = try {
        limit.run { presenter.displayedSecrets() } ?: emptySet()
    } catch (e: Exception) {
        emptySet()
    }

    private fun quietly(action: () -> Unit) {
        try {
            limit.run(action)
        } catch (e: Exception) {
            // There is nothing else to show.
        }
    }
}
