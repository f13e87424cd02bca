// What Swift needs of librabbitmq. Macros, unions and variadic functions that Swift cannot read are wrapped here.
#ifndef SECUREPUSH_CRABBITMQ_SHIM_H
#define SECUREPUSH_CRABBITMQ_SHIM_H
#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <sys/time.h>

static const uint32_t CRabbitMQBasicAck = AMQP_BASIC_ACK_METHOD;
static const uint32_t CRabbitMQBasicNack = AMQP_BASIC_NACK_METHOD;
static const uint32_t CRabbitMQBasicReturn = AMQP_BASIC_RETURN_METHOD;
static const uint32_t CRabbitMQBasicDeliver = AMQP_BASIC_DELIVER_METHOD;
static const uint32_t CRabbitMQBasicCancel = AMQP_BASIC_CANCEL_METHOD;
static const uint32_t CRabbitMQChannelClose = AMQP_CHANNEL_CLOSE_METHOD;
static const uint32_t CRabbitMQConnectionClose = AMQP_CONNECTION_CLOSE_METHOD;
static const uint32_t CRabbitMQChannelCloseOK = AMQP_CHANNEL_CLOSE_OK_METHOD;
static const uint32_t CRabbitMQConnectionBlocked = AMQP_CONNECTION_BLOCKED_METHOD;
static const uint32_t CRabbitMQConnectionUnblocked = AMQP_CONNECTION_UNBLOCKED_METHOD;
static const uint32_t CRabbitMQBasicGetEmpty = AMQP_BASIC_GET_EMPTY_METHOD;

static const uint32_t CRabbitMQContentTypeFlag = AMQP_BASIC_CONTENT_TYPE_FLAG;
static const uint32_t CRabbitMQHeadersFlag = AMQP_BASIC_HEADERS_FLAG;
static const uint32_t CRabbitMQDeliveryModeFlag = AMQP_BASIC_DELIVERY_MODE_FLAG;
static const uint32_t CRabbitMQExpirationFlag = AMQP_BASIC_EXPIRATION_FLAG;
static const uint32_t CRabbitMQMessageIDFlag = AMQP_BASIC_MESSAGE_ID_FLAG;

// The reply code and text of a close, of a server exception as of a frame.
static inline void crabbitmq_close_reason(const amqp_method_t *method, uint16_t *code, amqp_bytes_t *text) {
  *code = 0;
  *text = amqp_empty_bytes;
  if (method->id == AMQP_CHANNEL_CLOSE_METHOD) {
    const amqp_channel_close_t *close = (const amqp_channel_close_t *)method->decoded;
    *code = close->reply_code;
    *text = close->reply_text;
  } else if (method->id == AMQP_CONNECTION_CLOSE_METHOD) {
    const amqp_connection_close_t *close = (const amqp_connection_close_t *)method->decoded;
    *code = close->reply_code;
    *text = close->reply_text;
  }
}

static inline amqp_rpc_reply_t crabbitmq_login_plain(amqp_connection_state_t state, const char *vhost,
                                                     int channel_max, int frame_max, int heartbeat,
                                                     const amqp_table_t *properties, const char *user,
                                                     const char *password) {
  return amqp_login_with_properties(state, vhost, channel_max, frame_max, heartbeat, properties,
                                    AMQP_SASL_METHOD_PLAIN, user, password);
}

static inline amqp_rpc_reply_t crabbitmq_login_external(amqp_connection_state_t state, const char *vhost,
                                                        int channel_max, int frame_max, int heartbeat,
                                                        const amqp_table_t *properties, const char *identity) {
  return amqp_login_with_properties(state, vhost, channel_max, frame_max, heartbeat, properties,
                                    AMQP_SASL_METHOD_EXTERNAL, identity);
}
#endif
