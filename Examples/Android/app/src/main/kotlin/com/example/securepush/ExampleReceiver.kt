package com.example.securepush

import android.content.Context
import securepush.SecurePushFailure
import securepush.android.DistributorProblem
import securepush.android.UnifiedPushReceiver

/** Tells the screen of what the distributor of UnifiedPush says. The manifest names it. */
class ExampleReceiver : UnifiedPushReceiver() {
    private fun session(context: Context) = (context.applicationContext as ExampleApplication).session

    override fun onRegistered(context: Context) = session(context).endpointArrived()

    override fun onNotRegistered(context: Context, failure: SecurePushFailure) =
        session(context).endpointFailed(failure)

    override fun onDistributorProblem(context: Context, problem: DistributorProblem) =
        session(context).distributorFailed(problem)
}
