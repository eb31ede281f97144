#include "CResources.h"

/// Defines the function that returns `text`.
#define RETURN(name, text) \
    const char *_Nonnull name(void) { return (const char *)text; }

// SignalboxNotification

static const unsigned char catalogue_values_json[] = {
#embed "../SignalboxNotification/Catalogue/catalogue-values.json" suffix(, 0)
};
RETURN(sb_catalogue_values_json, catalogue_values_json)

static const unsigned char catalogue_keys_json[] = {
#embed "../SignalboxNotification/Catalogue/catalogue-keys.json" suffix(, 0)
};
RETURN(sb_catalogue_keys_json, catalogue_keys_json)

static const unsigned char catalogue_more_keys_json[] = {
#embed "../SignalboxNotification/Catalogue/catalogue-more-keys.json" suffix(, 0)
};
RETURN(sb_catalogue_more_keys_json, catalogue_more_keys_json)

static const unsigned char catalogue_nested_json[] = {
#embed "../SignalboxNotification/Catalogue/catalogue-nested.json" suffix(, 0)
};
RETURN(sb_catalogue_nested_json, catalogue_nested_json)

static const unsigned char catalogue_more_nested_json[] = {
#embed "../SignalboxNotification/Catalogue/catalogue-more-nested.json" suffix(, 0)
};
RETURN(sb_catalogue_more_nested_json, catalogue_more_nested_json)

static const unsigned char catalogue_further_json[] = {
#embed "../SignalboxNotification/Catalogue/catalogue-further.json" suffix(, 0)
};
RETURN(sb_catalogue_further_json, catalogue_further_json)

static const unsigned char detector_1_json[] = {
#embed "../SignalboxNotification/Catalogue/detector-1.json" suffix(, 0)
};
RETURN(sb_detector_1_json, detector_1_json)

static const unsigned char warnings_json[] = {
#embed "../SignalboxNotification/Vendors/warnings.json" suffix(, 0)
};
RETURN(sb_warnings_json, warnings_json)

// SignalboxConfig

static const unsigned char patterns_json[] = {
#embed "../SignalboxConfig/Schema/patterns.json" suffix(, 0)
};
RETURN(sb_patterns_json, patterns_json)

// SignalboxRouting

static const unsigned char whole_json[] = {
#embed "../SignalboxRouting/Samples/whole.json" suffix(, 0)
};
RETURN(sb_whole_json, whole_json)

static const unsigned char least_json[] = {
#embed "../SignalboxRouting/Samples/least.json" suffix(, 0)
};
RETURN(sb_least_json, least_json)

// SignalboxSQLite

static const unsigned char migrations_1_sql[] = {
#embed "../SignalboxSQLite/Schema/migrations-1.sql" suffix(, 0)
};
RETURN(sb_migrations_1_sql, migrations_1_sql)

static const unsigned char migrations_2_sql[] = {
#embed "../SignalboxSQLite/Schema/migrations-2.sql" suffix(, 0)
};
RETURN(sb_migrations_2_sql, migrations_2_sql)

// SignalboxPostgres

static const unsigned char core_sql[] = {
#embed "../SignalboxPostgres/Schema/core.sql" suffix(, 0)
};
RETURN(sb_core_sql, core_sql)

static const unsigned char operators_sql[] = {
#embed "../SignalboxPostgres/Schema/operators.sql" suffix(, 0)
};
RETURN(sb_operators_sql, operators_sql)

static const unsigned char media_sql[] = {
#embed "../SignalboxPostgres/Schema/media.sql" suffix(, 0)
};
RETURN(sb_media_sql, media_sql)

static const unsigned char inapp_sql[] = {
#embed "../SignalboxPostgres/Schema/inapp.sql" suffix(, 0)
};
RETURN(sb_inapp_sql, inapp_sql)

static const unsigned char copies_sql[] = {
#embed "../SignalboxPostgres/Schema/copies.sql" suffix(, 0)
};
RETURN(sb_copies_sql, copies_sql)

// SignalboxGateway

static const unsigned char notification_1_json[] = {
#embed "../SignalboxGateway/Accept/Schemas/notification-1.json" suffix(, 0)
};
RETURN(sb_notification_1_json, notification_1_json)

static const unsigned char interaction_1_json[] = {
#embed "../SignalboxGateway/Accept/Schemas/interaction-1.json" suffix(, 0)
};
RETURN(sb_interaction_1_json, interaction_1_json)

static const unsigned char message_1_json[] = {
#embed "../SignalboxGateway/InApp/Schemas/message-1.json" suffix(, 0)
};
RETURN(sb_message_1_json, message_1_json)

static const unsigned char inapp_1_json[] = {
#embed "../SignalboxGateway/InApp/Schemas/inapp-1.json" suffix(, 0)
};
RETURN(sb_inapp_1_json, inapp_1_json)

static const unsigned char push_1_json[] = {
#embed "../SignalboxGateway/Forward/Schemas/push-1.json" suffix(, 0)
};
RETURN(sb_push_1_json, push_1_json)

// SignalboxServer

static const unsigned char index_html[] = {
#embed "../SignalboxServer/Console/Assets/index.html" suffix(, 0)
};
RETURN(sb_index_html, index_html)

static const unsigned char icon_svg[] = {
#embed "../SignalboxServer/Console/Assets/icon.svg" suffix(, 0)
};
RETURN(sb_icon_svg, icon_svg)

static const unsigned char style_css[] = {
#embed "../SignalboxServer/Console/Assets/style.css" suffix(, 0)
};
RETURN(sb_style_css, style_css)

static const unsigned char preview_css[] = {
#embed "../SignalboxServer/Console/Assets/preview.css" suffix(, 0)
};
RETURN(sb_preview_css, preview_css)

static const unsigned char h_js[] = {
#embed "../SignalboxServer/Console/Assets/h.js" suffix(, 0)
};
RETURN(sb_h_js, h_js)

static const unsigned char text_js[] = {
#embed "../SignalboxServer/Console/Assets/text.js" suffix(, 0)
};
RETURN(sb_text_js, text_js)

static const unsigned char api_js[] = {
#embed "../SignalboxServer/Console/Assets/api.js" suffix(, 0)
};
RETURN(sb_api_js, api_js)

static const unsigned char ui_js[] = {
#embed "../SignalboxServer/Console/Assets/ui.js" suffix(, 0)
};
RETURN(sb_ui_js, ui_js)

static const unsigned char app_js[] = {
#embed "../SignalboxServer/Console/Assets/app.js" suffix(, 0)
};
RETURN(sb_app_js, app_js)

static const unsigned char live_js[] = {
#embed "../SignalboxServer/Console/Assets/live.js" suffix(, 0)
};
RETURN(sb_live_js, live_js)

static const unsigned char events_js[] = {
#embed "../SignalboxServer/Console/Assets/events.js" suffix(, 0)
};
RETURN(sb_events_js, events_js)

static const unsigned char event_js[] = {
#embed "../SignalboxServer/Console/Assets/event.js" suffix(, 0)
};
RETURN(sb_event_js, event_js)

static const unsigned char preview_js[] = {
#embed "../SignalboxServer/Console/Assets/preview.js" suffix(, 0)
};
RETURN(sb_preview_js, preview_js)

static const unsigned char origin_js[] = {
#embed "../SignalboxServer/Console/Assets/origin.js" suffix(, 0)
};
RETURN(sb_origin_js, origin_js)

static const unsigned char deliveries_js[] = {
#embed "../SignalboxServer/Console/Assets/deliveries.js" suffix(, 0)
};
RETURN(sb_deliveries_js, deliveries_js)

static const unsigned char destinations_js[] = {
#embed "../SignalboxServer/Console/Assets/destinations.js" suffix(, 0)
};
RETURN(sb_destinations_js, destinations_js)

static const unsigned char routes_js[] = {
#embed "../SignalboxServer/Console/Assets/routes.js" suffix(, 0)
};
RETURN(sb_routes_js, routes_js)

static const unsigned char pattern_js[] = {
#embed "../SignalboxServer/Console/Assets/pattern.js" suffix(, 0)
};
RETURN(sb_pattern_js, pattern_js)

static const unsigned char lists_js[] = {
#embed "../SignalboxServer/Console/Assets/lists.js" suffix(, 0)
};
RETURN(sb_lists_js, lists_js)

static const unsigned char settings_js[] = {
#embed "../SignalboxServer/Console/Assets/settings.js" suffix(, 0)
};
RETURN(sb_settings_js, settings_js)

static const unsigned char problem_and_event_json[] = {
#embed "../SignalboxServer/OpenAPI/Schemas/problem-and-event.json" suffix(, 0)
};
RETURN(sb_problem_and_event_json, problem_and_event_json)

static const unsigned char senders_json[] = {
#embed "../SignalboxServer/OpenAPI/Schemas/senders.json" suffix(, 0)
};
RETURN(sb_senders_json, senders_json)

static const unsigned char inapp_requests_json[] = {
#embed "../SignalboxServer/OpenAPI/Schemas/inapp-requests.json" suffix(, 0)
};
RETURN(sb_inapp_requests_json, inapp_requests_json)

static const unsigned char inapp_answers_json[] = {
#embed "../SignalboxServer/OpenAPI/Schemas/inapp-answers.json" suffix(, 0)
};
RETURN(sb_inapp_answers_json, inapp_answers_json)

static const unsigned char events_json[] = {
#embed "../SignalboxServer/OpenAPI/Schemas/events.json" suffix(, 0)
};
RETURN(sb_events_json, events_json)

static const unsigned char operations_json[] = {
#embed "../SignalboxServer/OpenAPI/Schemas/operations.json" suffix(, 0)
};
RETURN(sb_operations_json, operations_json)

static const unsigned char bulk_json[] = {
#embed "../SignalboxServer/OpenAPI/Schemas/bulk.json" suffix(, 0)
};
RETURN(sb_bulk_json, bulk_json)

static const unsigned char captures_json[] = {
#embed "../SignalboxServer/OpenAPI/Schemas/captures.json" suffix(, 0)
};
RETURN(sb_captures_json, captures_json)

static const unsigned char inspection_json[] = {
#embed "../SignalboxServer/OpenAPI/Schemas/inspection.json" suffix(, 0)
};
RETURN(sb_inspection_json, inspection_json)

static const unsigned char observation_json[] = {
#embed "../SignalboxServer/OpenAPI/Schemas/observation.json" suffix(, 0)
};
RETURN(sb_observation_json, observation_json)

static const unsigned char routes_json[] = {
#embed "../SignalboxServer/OpenAPI/Schemas/routes.json" suffix(, 0)
};
RETURN(sb_routes_json, routes_json)

static const unsigned char service_json[] = {
#embed "../SignalboxServer/OpenAPI/Schemas/service.json" suffix(, 0)
};
RETURN(sb_service_json, service_json)

static const unsigned char webhooks_json[] = {
#embed "../SignalboxServer/OpenAPI/Schemas/webhooks.json" suffix(, 0)
};
RETURN(sb_webhooks_json, webhooks_json)

static const unsigned char components_json[] = {
#embed "../SignalboxServer/OpenAPI/Schemas/components.json" suffix(, 0)
};
RETURN(sb_components_json, components_json)

static const unsigned char problems_json[] = {
#embed "../SignalboxServer/API/problems.json" suffix(, 0)
};
RETURN(sb_problems_json, problems_json)

// SignalboxCommands

static const unsigned char starter_json[] = {
#embed "../SignalboxCommands/Local/starter.json" suffix(, 0)
};
RETURN(sb_starter_json, starter_json)

static const unsigned char payloads_json[] = {
#embed "../SignalboxCommands/Samples/payloads.json" suffix(, 0)
};
RETURN(sb_payloads_json, payloads_json)
