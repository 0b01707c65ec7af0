#include "CWebPhone.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

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
    {"alerts.js", alerts_js, sizeof alerts_js},
    {"app.js", app_js, sizeof app_js},
    {"center.js", center_js, sizeof center_js},
    {"closed.js", closed_js, sizeof closed_js},
    {"commands.js", commands_js, sizeof commands_js},
    {"dom.js", dom_js, sizeof dom_js},
    {"drafts.js", drafts_js, sizeof drafts_js},
    {"gateway.js", gateway_js, sizeof gateway_js},
    {"icon.svg", icon_svg, sizeof icon_svg},
    {"index.html", index_html, sizeof index_html},
    {"journal.js", journal_js, sizeof journal_js},
    {"keys.js", keys_js, sizeof keys_js},
    {"lines.js", lines_js, sizeof lines_js},
    {"link.js", link_js, sizeof link_js},
    {"manifest.webmanifest", manifest_webmanifest, sizeof manifest_webmanifest},
    {"notices.js", notices_js, sizeof notices_js},
    {"preferences.js", preferences_js, sizeof preferences_js},
    {"presenter.js", presenter_js, sizeof presenter_js},
    {"sound.js", sound_js, sizeof sound_js},
    {"state.js", state_js, sizeof state_js},
    {"style.css", style_css, sizeof style_css},
    {"undo.js", undo_js, sizeof undo_js},
    {"view-alert.js", view_alert_js, sizeof view_alert_js},
    {"view-center.js", view_center_js, sizeof view_center_js},
    {"view-home.js", view_home_js, sizeof view_home_js},
    {"view-join.js", view_join_js, sizeof view_join_js},
    {"view-message.js", view_message_js, sizeof view_message_js},
    {"view-settings.js", view_settings_js, sizeof view_settings_js},
    {"words.js", words_js, sizeof words_js},
    {"worker.js", worker_js, sizeof worker_js},
};

size_t web_phone_count(void) { return sizeof files / sizeof *files; }

const char *web_phone_name(size_t index) { return files[index].name; }

const unsigned char *web_phone_bytes(size_t index) { return files[index].bytes; }

size_t web_phone_size(size_t index) { return files[index].size; }
