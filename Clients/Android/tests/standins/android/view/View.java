package android.view;

import android.content.Context;

/** A stand-in for tests. */
public class View {
    private boolean isEnabled = true;
    private OnClickListener listener;

    public View(Context context) { }

    /** A stand-in for tests. */
    public interface OnClickListener {
        void onClick(View view);
    }

    public void setOnClickListener(OnClickListener listener) { this.listener = listener; }
    public boolean performClick() { listener.onClick(this); return true; }
    public void setEnabled(boolean value) { isEnabled = value; }
    public boolean isEnabled() { return isEnabled; }
    public void setPadding(int left, int top, int right, int bottom) { }
    public void setFitsSystemWindows(boolean value) { }
    public boolean getFitsSystemWindows() { return true; }
}
