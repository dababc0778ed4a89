SELECT B.auction, B.bidder, B.price, B.dateTime, B.extra
FROM bid AS B JOIN (
  SELECT max(price) AS maxprice, time_bucket(INTERVAL 10 SECONDS, dateTime) + INTERVAL 10 SECONDS AS ends
  FROM bid GROUP BY ends) AS M ON B.price = M.maxprice
WHERE B.dateTime BETWEEN M.ends - INTERVAL 10 SECONDS AND M.ends
