module securepush.example/hubpeer

go 1.25

require github.com/jackc/pgx/v4 v4.17.2
