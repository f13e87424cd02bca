package com.example.java;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import securepush.GenericNotice;
import securepush.LogInPrompt;
import securepush.NotificationPresenter;
import securepush.PushID;
import securepush.SecretNotification;
import securepush.simulation.SimulatedScreen;

/** A presenter in Java. */
class ThreadlessPresenter implements NotificationPresenter {
    private final SimulatedScreen screen;

    ThreadlessPresenter(SimulatedScreen screen) { this.screen = screen; }

    @Override
    public void show(SecretNotification secret) {
        screen.getSecrets().merge(secret.getId(), 1, Integer::sum);
        screen.getVisible().add(secret.getId());
    }

    @Override
    public void show(GenericNotice notice) { screen.getNotices().add(notice); }

    @Override
    public void show(LogInPrompt prompt) { screen.getPrompts().add(prompt); }

    @Override
    public void remove(List<PushID> ids) { screen.getVisible().removeAll(ids); }

    @Override
    public void removePrompt() { }

    @Override
    public void setBadge(int count) { }

    @Override
    public Set<PushID> displayedSecrets() { return new HashSet<>(screen.getVisible()); }
}
