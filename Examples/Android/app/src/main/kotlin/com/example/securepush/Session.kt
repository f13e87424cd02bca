package com.example.securepush

import java.net.URI
import java.util.concurrent.Executor
import java.util.concurrent.Executors
import securepush.AnswerFailure
import securepush.ClientStoreException
import securepush.DiagnosticCode
import securepush.InboxEntry
import securepush.PushDevice
import securepush.PushID
import securepush.SecretNotification
import securepush.SecurePushFailure
import securepush.UserDevice
import securepush.android.DistributorProblem

/** The user's session and the device, for the one screen of the app. The work is done on a background thread. */
class Session(
    private val app: ExampleApplication,
    private val background: Executor = Executors.newSingleThreadExecutor()
) {
    /** The line below the buttons. */
    enum class Status {
        WAITING_FOR_TOKEN, NO_TOKEN, NO_DISTRIBUTOR, LOGGED_OUT, WAITING_FOR_ENDPOINT, REGISTERED, SENT,
        WRONG_PASSWORD, NO_KEY, NO_ENDPOINT, NOT_SENT, FAILED
    }

    /** Called after every change, on any thread. */
    @Volatile var onChange: () -> Unit = {}

    @Volatile var isLoggedIn = false
        private set

    @Volatile var status = Status.WAITING_FOR_TOKEN
        private set

    /** The reason of a failure: a code of the SDK, or the distributor's own reason. */
    @Volatile var reason = ""
        private set

    /** Known as soon as Firebase has answered. */
    @Volatile private var device: PushDevice? = null

    val usesUnifiedPush: Boolean get() = app.usesUnifiedPush

    /** Whether the user can log in. */
    val hasChannel: Boolean get() = device != null || usesUnifiedPush

    /** Firebase has answered; `null`: without a token. */
    fun tokenArrived(token: String?) = background.execute {
        if (token == null) {
            if (!app.usesUnifiedPush) change(Status.NO_TOKEN)
        } else {
            device = app.securePushDevice(token)
            if (!isLoggedIn) change(Status.LOGGED_OUT)
            register()
        }
    }

    /** The user wants to do without Google. With several distributors, the library has asked which one. */
    fun distributorChosen(isThere: Boolean) = background.execute {
        if (!isThere) change(Status.NO_DISTRIBUTOR) else if (isLoggedIn) register() else change(Status.LOGGED_OUT)
    }

    /** The distributor has given an endpoint, and the server has it. */
    fun endpointArrived() = background.execute { if (isLoggedIn) change(Status.REGISTERED) }

    /** The server has not taken the endpoint. */
    fun endpointFailed(failure: SecurePushFailure) = background.execute { attempt { throw failure } }

    /** No pushes come by the distributor. */
    fun distributorFailed(problem: DistributorProblem) = background.execute { fail(Status.NO_ENDPOINT, problem.name) }

    /** Registers again if that is due, and shows what was missed. Called when the app comes to the foreground. */
    fun becomeActive() = background.execute {
        isLoggedIn = app.credentials.userName() != null
        register()
        val report = app.securePushClient.catchUp()
        // The session has ended, so the user has to log in again. The user's name stays known, for signed pushes.
        if (report.code == DiagnosticCode.LOGGED_OUT || report.code == DiagnosticCode.status(401)) {
            isLoggedIn = false
            change(if (hasChannel) Status.LOGGED_OUT else Status.WAITING_FOR_TOKEN)
        }
    }

    /** Log in, register, and show what waited for the log-in. */
    fun logIn(userName: String, password: String) = background.execute {
        attempt({ if (it.code == DiagnosticCode.status(401)) Status.WRONG_PASSWORD else Status.FAILED }) {
            app.credentials.logIn(userName, password)
            isLoggedIn = true
        }
        if (isLoggedIn) {
            register()
            app.securePushClient.resumeAfterLogIn()
        }
    }

    /** Nothing of the user stays on the device, also without a network. The server forgets the device then or later. */
    fun logOut() = background.execute {
        attempt {
            app.securePushClient.logOut()
            isLoggedIn = false
            change(Status.LOGGED_OUT)
        }
    }

    /** Lists the messages, the newest first, without their texts. */
    fun loadMessages(onMessages: (List<InboxEntry>) -> Unit, onFailure: (String) -> Unit) = background.execute {
        load(onFailure) {
            val entries = ArrayList<InboxEntry>()
            var after: PushID? = null
            for (number in 1..MAX_PAGES) {
                val page = app.securePushClient.inbox(after)
                entries.addAll(page.entries)
                after = page.next ?: break
            }
            onMessages(entries.asReversed())
        }
    }

    /** Fetches a message. Its notification is not needed any more. */
    fun loadMessage(
        id: PushID, onMessage: (SecretNotification) -> Unit, onFailure: (String) -> Unit
    ) = background.execute {
        load(onFailure) {
            onMessage(app.securePushClient.read(id))
            attempt { app.securePushClient.markAsRead(listOf(id)) }
        }
    }

    /** Answers a message whose sender asks for it. */
    fun answer(
        id: PushID, action: String, text: String?, challenge: String?, onDone: () -> Unit,
        onFailure: (AnswerFailure) -> Unit
    ) = background.execute {
        try {
            app.securePushClient.answer(id, action, text, challenge)
            onDone()
        } catch (e: AnswerFailure) {
            onFailure(e)
        }
    }

    /** Lists the user's devices, and the fingerprint of this device's key. */
    fun loadDevices(
        onDevices: (List<UserDevice>, String?) -> Unit, onFailure: (String) -> Unit
    ) = background.execute {
        load(onFailure) { onDevices(app.securePushClient.devices(), app.securePushClient.encryptionKeyFingerprint()) }
    }

    /** Removes a device that the user has lost, for example. */
    fun removeDevice(id: String, onDone: () -> Unit, onFailure: (String) -> Unit) = background.execute {
        load(onFailure) {
            app.securePushClient.removeDevice(id)
            onDone()
        }
    }

    /** No device of the user gets pushes any more. */
    fun signOutEverywhere(onDone: () -> Unit, onFailure: (String) -> Unit) = background.execute {
        load(onFailure) {
            app.securePushClient.signOutEverywhere()
            isLoggedIn = false
            change(Status.LOGGED_OUT)
            onDone()
        }
    }

    private fun load(onFailure: (String) -> Unit, work: () -> Unit) {
        try {
            work()
        } catch (e: SecurePushFailure) {
            onFailure(e.code.rawValue)
        }
    }

    /** The tutorial's "Send push": the user sends "Secure confirmation." to all own devices. */
    fun sendPush() = background.execute {
        attempt({ Status.NOT_SENT }) {
            ConfirmationSender(URI(BuildConfig.INGEST_URL), app).send()
            change(Status.SENT)
        }
    }

    private fun register() {
        if (!isLoggedIn) return
        if (app.usesUnifiedPush) return attempt { if (app.unifiedPush.register()) change(Status.WAITING_FOR_ENDPOINT) }
        val device = device ?: return
        attempt {
            app.securePushClient.register(device)
            change(Status.REGISTERED)
        }
    }

    private fun attempt(status: (SecurePushFailure) -> Status = ::statusOf, body: () -> Unit) {
        try {
            body()
        } catch (e: SecurePushFailure) {
            fail(status(e), e.code.rawValue)
        } catch (e: ClientStoreException) {
            fail(Status.FAILED, DiagnosticCode.CREDENTIALS.rawValue)
        }
    }

    /** A failure with an installation's ID: the device is registered, only its key is missing at the server. */
    private fun statusOf(failure: SecurePushFailure) =
        if (failure.installationID == null) Status.FAILED else Status.NO_KEY

    private fun fail(status: Status, reason: String) {
        this.reason = reason
        change(status)
    }

    private fun change(status: Status) {
        this.status = status
        onChange()
    }

    private companion object {
        const val MAX_PAGES = 10
    }
}
