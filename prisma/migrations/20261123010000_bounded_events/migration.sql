-- Events that strangers can bring about, such as a refused payment: each once, and so many an hour about one thing.
CREATE TABLE delivery_bounded_event (
  about text NOT NULL,
  key bytea NOT NULL,
  at timestamptz(3) NOT NULL,
  PRIMARY KEY (about, key)
);
CREATE INDEX delivery_bounded_event_recent ON delivery_bounded_event (about, at);
CREATE INDEX delivery_bounded_event_age ON delivery_bounded_event (at, about, key);
