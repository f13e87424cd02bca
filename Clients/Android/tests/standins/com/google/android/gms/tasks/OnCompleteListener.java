package com.google.android.gms.tasks;

/** A stand-in for tests. */
public interface OnCompleteListener<T> {
    void onComplete(Task<T> task);
}
