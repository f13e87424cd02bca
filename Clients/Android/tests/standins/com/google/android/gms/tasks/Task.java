package com.google.android.gms.tasks;

/** A stand-in for tests: it has ended, with a result or, if that is null, without success. */
public class Task<T> {
    private final T result;

    public Task(T result) { this.result = result; }

    public boolean isSuccessful() { return result != null; }

    public T getResult() { return result; }

    public Task<T> addOnCompleteListener(OnCompleteListener<T> listener) {
        listener.onComplete(this);
        return this;
    }
}
