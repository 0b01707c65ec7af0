#include "CWebPhone.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char console_api_js[] = {
#embed "console/api.js"
};
static const unsigned char console_app_js[] = {
#embed "console/app.js"
};
static const unsigned char console_filters_js[] = {
#embed "console/filters.js"
};
static const unsigned char console_index_html[] = {
#embed "console/index.html"
};
static const unsigned char console_log_js[] = {
#embed "console/log.js"
};
static const unsigned char console_manage_js[] = {
#embed "console/manage.js"
};
static const unsigned char console_metrics_js[] = {
#embed "console/metrics.js"
};
static const unsigned char console_page_js[] = {
#embed "console/page.js"
};
static const unsigned char console_payload_js[] = {
#embed "console/payload.js"
};
static const unsigned char console_preferences_js[] = {
#embed "console/preferences.js"
};
static const unsigned char console_qr_js[] = {
#embed "console/qr.js"
};
static const unsigned char console_replay_js[] = {
#embed "console/replay.js"
};
static const unsigned char console_reports_js[] = {
#embed "console/reports.js"
};
static const unsigned char console_style_css[] = {
#embed "console/style.css"
};
static const unsigned char console_table_js[] = {
#embed "console/table.js"
};
static const unsigned char console_tests_js[] = {
#embed "console/tests.js"
};
static const unsigned char console_typed_js[] = {
#embed "console/typed.js"
};
static const unsigned char console_view_activity_js[] = {
#embed "console/view-activity.js"
};
static const unsigned char console_view_list_js[] = {
#embed "console/view-list.js"
};
static const unsigned char console_view_push_js[] = {
#embed "console/view-push.js"
};
static const unsigned char console_view_replay_js[] = {
#embed "console/view-replay.js"
};
static const unsigned char console_view_reports_js[] = {
#embed "console/view-reports.js"
};
static const unsigned char console_view_send_js[] = {
#embed "console/view-send.js"
};
static const unsigned char console_view_status_js[] = {
#embed "console/view-status.js"
};
static const unsigned char console_view_tests_js[] = {
#embed "console/view-tests.js"
};
static const unsigned char console_window_js[] = {
#embed "console/window.js"
};
static const unsigned char alerts_js[] = {
#embed "phone/alerts.js"
};
static const unsigned char app_js[] = {
#embed "phone/app.js"
};
static const unsigned char center_js[] = {
#embed "phone/center.js"
};
static const unsigned char closed_js[] = {
#embed "phone/closed.js"
};
static const unsigned char commands_js[] = {
#embed "phone/commands.js"
};
static const unsigned char dom_js[] = {
#embed "phone/dom.js"
};
static const unsigned char drafts_js[] = {
#embed "phone/drafts.js"
};
static const unsigned char endpoints_js[] = {
#embed "phone/endpoints.js"
};
static const unsigned char gateway_js[] = {
#embed "phone/gateway.js"
};
static const unsigned char icon_svg[] = {
#embed "phone/icon.svg"
};
static const unsigned char index_html[] = {
#embed "phone/index.html"
};
static const unsigned char journal_js[] = {
#embed "phone/journal.js"
};
static const unsigned char keys_js[] = {
#embed "phone/keys.js"
};
static const unsigned char lines_js[] = {
#embed "phone/lines.js"
};
static const unsigned char link_js[] = {
#embed "phone/link.js"
};
static const unsigned char manifest_webmanifest[] = {
#embed "phone/manifest.webmanifest"
};
static const unsigned char notices_js[] = {
#embed "phone/notices.js"
};
static const unsigned char preferences_js[] = {
#embed "phone/preferences.js"
};
static const unsigned char presenter_js[] = {
#embed "phone/presenter.js"
};
static const unsigned char reload_js[] = {
#embed "phone/reload.js"
};
static const unsigned char sound_js[] = {
#embed "phone/sound.js"
};
static const unsigned char state_js[] = {
#embed "phone/state.js"
};
static const unsigned char style_css[] = {
#embed "phone/style.css"
};
static const unsigned char undo_js[] = {
#embed "phone/undo.js"
};
static const unsigned char view_alert_js[] = {
#embed "phone/view-alert.js"
};
static const unsigned char view_center_js[] = {
#embed "phone/view-center.js"
};
static const unsigned char view_home_js[] = {
#embed "phone/view-home.js"
};
static const unsigned char view_join_js[] = {
#embed "phone/view-join.js"
};
static const unsigned char view_message_js[] = {
#embed "phone/view-message.js"
};
static const unsigned char view_settings_js[] = {
#embed "phone/view-settings.js"
};
static const unsigned char webpush_js[] = {
#embed "phone/webpush.js"
};
static const unsigned char words_js[] = {
#embed "phone/words.js"
};
static const unsigned char worker_js[] = {
#embed "phone/worker.js"
};

static const struct {
  const char *name;
  const unsigned char *bytes;
  size_t size;
} files[] = {
    {"console/api.js", console_api_js, sizeof console_api_js},
    {"console/app.js", console_app_js, sizeof console_app_js},
    {"console/filters.js", console_filters_js, sizeof console_filters_js},
    {"console/index.html", console_index_html, sizeof console_index_html},
    {"console/log.js", console_log_js, sizeof console_log_js},
    {"console/manage.js", console_manage_js, sizeof console_manage_js},
    {"console/metrics.js", console_metrics_js, sizeof console_metrics_js},
    {"console/page.js", console_page_js, sizeof console_page_js},
    {"console/payload.js", console_payload_js, sizeof console_payload_js},
    {"console/preferences.js", console_preferences_js, sizeof console_preferences_js},
    {"console/qr.js", console_qr_js, sizeof console_qr_js},
    {"console/replay.js", console_replay_js, sizeof console_replay_js},
    {"console/reports.js", console_reports_js, sizeof console_reports_js},
    {"console/style.css", console_style_css, sizeof console_style_css},
    {"console/table.js", console_table_js, sizeof console_table_js},
    {"console/tests.js", console_tests_js, sizeof console_tests_js},
    {"console/typed.js", console_typed_js, sizeof console_typed_js},
    {"console/view-activity.js", console_view_activity_js, sizeof console_view_activity_js},
    {"console/view-list.js", console_view_list_js, sizeof console_view_list_js},
    {"console/view-push.js", console_view_push_js, sizeof console_view_push_js},
    {"console/view-replay.js", console_view_replay_js, sizeof console_view_replay_js},
    {"console/view-reports.js", console_view_reports_js, sizeof console_view_reports_js},
    {"console/view-send.js", console_view_send_js, sizeof console_view_send_js},
    {"console/view-status.js", console_view_status_js, sizeof console_view_status_js},
    {"console/view-tests.js", console_view_tests_js, sizeof console_view_tests_js},
    {"console/window.js", console_window_js, sizeof console_window_js},
    {"phone/alerts.js", alerts_js, sizeof alerts_js},
    {"phone/app.js", app_js, sizeof app_js},
    {"phone/center.js", center_js, sizeof center_js},
    {"phone/closed.js", closed_js, sizeof closed_js},
    {"phone/commands.js", commands_js, sizeof commands_js},
    {"phone/dom.js", dom_js, sizeof dom_js},
    {"phone/drafts.js", drafts_js, sizeof drafts_js},
    {"phone/endpoints.js", endpoints_js, sizeof endpoints_js},
    {"phone/gateway.js", gateway_js, sizeof gateway_js},
    {"phone/icon.svg", icon_svg, sizeof icon_svg},
    {"phone/index.html", index_html, sizeof index_html},
    {"phone/journal.js", journal_js, sizeof journal_js},
    {"phone/keys.js", keys_js, sizeof keys_js},
    {"phone/lines.js", lines_js, sizeof lines_js},
    {"phone/link.js", link_js, sizeof link_js},
    {"phone/manifest.webmanifest", manifest_webmanifest, sizeof manifest_webmanifest},
    {"phone/notices.js", notices_js, sizeof notices_js},
    {"phone/preferences.js", preferences_js, sizeof preferences_js},
    {"phone/presenter.js", presenter_js, sizeof presenter_js},
    {"phone/reload.js", reload_js, sizeof reload_js},
    {"phone/sound.js", sound_js, sizeof sound_js},
    {"phone/state.js", state_js, sizeof state_js},
    {"phone/style.css", style_css, sizeof style_css},
    {"phone/undo.js", undo_js, sizeof undo_js},
    {"phone/view-alert.js", view_alert_js, sizeof view_alert_js},
    {"phone/view-center.js", view_center_js, sizeof view_center_js},
    {"phone/view-home.js", view_home_js, sizeof view_home_js},
    {"phone/view-join.js", view_join_js, sizeof view_join_js},
    {"phone/view-message.js", view_message_js, sizeof view_message_js},
    {"phone/view-settings.js", view_settings_js, sizeof view_settings_js},
    {"phone/webpush.js", webpush_js, sizeof webpush_js},
    {"phone/words.js", words_js, sizeof words_js},
    {"phone/worker.js", worker_js, sizeof worker_js},
};

size_t web_phone_count(void) { return sizeof files / sizeof *files; }

const char *web_phone_name(size_t index) { return files[index].name; }

const unsigned char *web_phone_bytes(size_t index) { return files[index].bytes; }

size_t web_phone_size(size_t index) { return files[index].size; }
