-- An empty database: each service makes its tables when it starts.
DROP SCHEMA public CASCADE;
CREATE SCHEMA public;
